package pages

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"seine/internal/ops/records"
	"seine/internal/run/trial"
	"seine/internal/serve/scrape"
	"seine/pkg/messages"
)

// A preview of a long text ends between two characters.
func TestPreviewsHaveWholeCharacters(t *testing.T) {
	t.Parallel()
	for shift := range 3 { // € has three bytes in UTF-8
		long := strings.Repeat("x", shift) + strings.Repeat("€", maxPayload)
		line := []byte(`{"title": "` + long + `"}`)
		tried := tried(&scrape.Page{Result: trial.Result{Records: []json.RawMessage{line}}, Markdown: &long})
		for of, text := range map[string]string{"record": shown(records.Recent{Line: line}).Text, "tried record": tried.Shown[0], "Markdown": *tried.Markdown} {
			if !strings.HasSuffix(strings.TrimSuffix(text, "…"), "€") || len(text) > maxPayload {
				t.Errorf("%s: %d bytes, the last of them %q", of, len(text), text[len(text)-8:])
			}
		}
	}
	c := newFixture(t)
	d := messages.Dead{Stage: messages.StageParser, Crawl: "shop", Reason: "broken", Time: time.Now(), Payload: []byte("x" + strings.Repeat("€", maxPayload))}
	if _, err := c.bus.JS.PublishMsg(t.Context(), d.Msg()); err != nil {
		t.Fatal(err)
	}
	c.until("/dead/1", "€")
	for _, path := range []string{"/dead/1", "/api/v1/dead-letters/1"} {
		if _, text := c.get(path); strings.Count(text, "€") != (maxPayload-1)/3 || strings.ContainsAny(text, "\ufffd") || strings.Contains(text, `\xe2`) {
			t.Errorf("%s: %d characters of the payload, %.300s", path, strings.Count(text, "€"), text)
		}
	}
}

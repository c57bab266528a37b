package api_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"seine/internal/run/connect"
	"seine/internal/serve"
	"seine/internal/serve/api"
	"seine/internal/serve/caller"
	"seine/internal/serve/tokens"
	"seine/pkg/messages"
)

// Callers with only the read scope see neither the URL of a spec's webhook nor extracted records;
// callers with the other scopes do.
func TestReadersSeeNoSecretsAndNoRecords(t *testing.T) {
	t.Parallel()
	s, _, data := crawled(t)
	file := filepath.Join(t.TempDir(), "tokens.json")
	reader, err := tokens.Create(file, "reader", []caller.Scope{caller.Read}, 0)
	if err != nil {
		t.Fatal(err)
	}
	records, err := tokens.Create(file, "records", []caller.Scope{caller.Read, caller.Write, caller.Records}, 0)
	if err != nil {
		t.Fatal(err)
	}
	guarded := newServer(t, data, func(o *serve.Options, _ *api.Options) {
		if o.Tokens, err = tokens.Open(file); err != nil {
			t.Fatal(err)
		}
	})
	const secret = "T0KEN-OF-THE-HOOK"
	spec := "allow_private: true\ndelay: 0s\nper_host: 8\nexclude: []\nmax_attempts: 1\nschedule: null\nseeds: null\nheaders: {X-Api-Key: " + secret + "}\nalerts: {webhook: 'https://hooks.example/" + secret + "'}\n"
	put := s.do("PUT", "/crawls/shop/spec", spec, "Content-Type", "application/yaml")
	if put.status != http.StatusOK {
		t.Fatal(put)
	}
	revision := "/crawls/shop/spec/revisions/" + strings.Trim(put.header.Get("ETag"), `"`)

	bus, err := (&connect.Operator{Data: data}).Dial("test", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(bus.Close)
	letter := func(stage, stream string) string {
		m := &nats.Msg{Subject: messages.SubjectDead(stage, "shop"), Header: nats.Header{messages.HeaderDeadStream: {stream}}, Data: []byte(`{"price": "` + secret + `"}`)}
		ack, err := bus.JS.PublishMsg(t.Context(), m)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("/dead-letters/%d", ack.Sequence)
	}
	// A masked value that a reader got is not stored in place of the real one.
	var have struct{ Spec json.RawMessage }
	if a := guarded.do("GET", "/crawls/shop/spec", "", "Authorization", "Bearer "+reader); json.Unmarshal(a.text, &have) != nil {
		t.Fatal(a)
	}
	if a := guarded.do("PUT", "/crawls/shop/spec", string(have.Spec), "Authorization", "Bearer "+records); a.status != http.StatusUnprocessableEntity || !strings.Contains(string(a.text), "alerts.webhook: the value was hidden") {
		t.Errorf("a spec with hidden values is stored: %v", a)
	}
	for _, c := range []struct {
		method, path, body string
		reader             bool // a reader may see it
	}{
		{"GET", "/crawls/shop/spec", "", false},
		{"GET", revision, "", false},
		{"POST", "/crawls/shop/spec/diff", "allow_private: true\n", false},
		{"GET", letter("writer", messages.StreamRecords), "", false},
		{"GET", letter("parser", messages.StreamPages), "", false},
		{"GET", letter("writer", ""), "", false},
		{"GET", letter("fetcher", messages.StreamFetch), "", true},
	} {
		for secretOf, may := range map[string]bool{reader: c.reader, records: true} {
			a := guarded.do(c.method, c.path, c.body, "Content-Type", "application/yaml", "Authorization", "Bearer "+secretOf)
			if a.status != http.StatusOK || strings.Contains(string(a.text), secret) != may {
				t.Errorf("%s %s, may see it %t: %v", c.method, c.path, may, a)
			}
		}
	}
}

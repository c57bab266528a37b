package alerts

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"seine/internal/fetch/secrets"
	"seine/pkg/crawlspec"
)

// receiver is an HTTP server that records the requests it got.
type receiver struct {
	*httptest.Server
	paths  []string
	bodies []string
	header http.Header
	answer int
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{answer: http.StatusNoContent}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		r.paths, r.bodies, r.header = append(r.paths, req.URL.String()), append(r.bodies, string(body)), req.Header
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(r.answer)
	}))
	t.Cleanup(r.Close)
	return r
}

var change = Change{V: 1, ID: "news.disk.0.1.raised", Phase: Raised, Alert: Alert{Crawl: "news", Kind: Disk, Text: "full"}}

func TestWebhookPosts(t *testing.T) {
	r := newReceiver(t)
	t.Setenv("SEINE_SECRET_HOOK", "s3cret")
	w := Webhook{Secrets: secrets.Store{}}
	a := &crawlspec.Alerts{Webhook: r.URL + "/{secret:HOOK}?x=1", AllowPrivate: true}
	if err := w.Post(t.Context(), a, &change); err != nil {
		t.Fatal(err)
	}
	var got Change
	if err := json.Unmarshal([]byte(r.bodies[0]), &got); err != nil || got != change {
		t.Errorf("posted was %s, %v", r.bodies[0], err)
	}
	if r.paths[0] != "/s3cret?x=1" || r.header.Get("Content-Type") != "application/json" || r.header.Get("Idempotency-Key") != change.ID {
		t.Errorf("to %s, with %v", r.paths[0], r.header)
	}
}

// A refusal reports the reason without the secret.
func TestWebhookRefusals(t *testing.T) {
	t.Setenv("SEINE_SECRET_HOOK", "s3cret")
	r := newReceiver(t)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for name, c := range map[string]struct {
		alerts crawlspec.Alerts
		answer int
		want   string
	}{
		"redirect":       {crawlspec.Alerts{Webhook: r.URL + "/{secret:HOOK}", AllowPrivate: true}, 307, "the receiver answers 307"},
		"server error":   {crawlspec.Alerts{Webhook: r.URL + "/{secret:HOOK}", AllowPrivate: true}, 500, "the receiver answers 500"},
		"private":        {crawlspec.Alerts{Webhook: r.URL + "/{secret:HOOK}"}, 200, "alerts: {allow_private: true}"},
		"metadata":       {crawlspec.Alerts{Webhook: "http://169.254.169.254/{secret:HOOK}", AllowPrivate: true}, 200, "refuse to dial 169.254.169.254"},
		"nobody listens": {crawlspec.Alerts{Webhook: gone.URL + "/{secret:HOOK}", AllowPrivate: true}, 200, "refused"},
		"no secret":      {crawlspec.Alerts{Webhook: r.URL + "/{secret:NOWHERE}", AllowPrivate: true}, 200, "set SEINE_SECRET_NOWHERE"},
	} {
		t.Run(name, func(t *testing.T) {
			r.answer, r.paths = c.answer, nil
			err := (&Webhook{}).Post(t.Context(), &c.alerts, &change)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("got %v, want %s", err, c.want)
			}
			if len(r.paths) > 1 {
				t.Errorf("it went on to %s", r.paths[1])
			}
		})
	}
}

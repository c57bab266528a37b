package httpclient

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"seine/pkg/messages"
)

const anubisPage = `<html><head><title>Making sure you're not a bot!</title><script id="anubis_challenge" type="application/json">{}</script></head><body></body></html>`

// A challenge in place of a page is not a page: with any status, recognised by its header or its
// body, compressed or not, and with an archive too. A page that only looks like one is a page, and
// an error without one an error.
func TestChallengeIsNoPage(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write([]byte(anubisPage))
	_ = z.Close()
	for name, c := range map[string]struct {
		status int
		header map[string]string
		body   string
		want   messages.Class
	}{
		"body":               {200, nil, anubisPage, messages.Blocked},
		"packed":             {200, map[string]string{"Content-Encoding": "gzip"}, packed.String(), messages.Blocked},
		"error":              {403, nil, anubisPage, messages.Blocked},
		"packed error":       {403, map[string]string{"Content-Encoding": "gzip"}, packed.String(), messages.Blocked},
		"refusal":            {429, nil, anubisPage, messages.Blocked},
		"header":             {403, map[string]string{"Cf-Mitigated": "challenge"}, "", messages.Blocked},
		"header with 202":    {202, map[string]string{"X-Amzn-Waf-Action": "challenge"}, "", messages.Blocked},
		"403":                {403, nil, "<h1>Forbidden</h1>", messages.ClientError},
		"404":                {404, nil, anubisPage, messages.Gone},
		"page":               {200, map[string]string{"Server": "cloudflare"}, "<h1>Hello</h1>", messages.OK},
		"text":               {200, map[string]string{"Content-Type": "text/plain"}, anubisPage, messages.OK},
		"page about the one": {200, nil, anubisPage + strings.Repeat("<p>It is often met with.</p>", 100), messages.OK},
	} {
		for _, archive := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%t", name, archive), func(t *testing.T) {
				t.Parallel()
				srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", "text/html; charset=utf-8")
					w.Header().Set("ETag", `"1"`)
					for k, v := range c.header {
						w.Header().Set(k, v)
					}
					w.WriteHeader(c.status)
					_, _ = w.Write([]byte(c.body))
				}))
				t.Cleanup(srv.Close)
				cl, err := New(defaultConfig(), nil, slog.New(slog.DiscardHandler))
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(cl.Close)
				r, err := cl.Do(t.Context(), &Request{URL: srv.URL + "/", Policy: privatePolicy, Timeout: patient, MaxBody: 1 << 20, Archive: archive})
				if err != nil {
					t.Fatal(err)
				}
				if r.Class != c.want || r.Status != c.status {
					t.Errorf("%s with status %d: %s", r.Class, r.Status, r.Text)
				}
				if r.Class == messages.Blocked && (!strings.Contains(r.Text, "a challenge of") || r.Body.Size != 0 || r.ETag != "") {
					t.Errorf("%q, %d bytes, ETag %s", r.Text, r.Body.Size, r.ETag)
				}
			})
		}
	}
}

package httpclient

import (
	"io"
	"log"
	"os"
	"strings"
	"testing"

	"seine/pkg/messages"
)

// TestHostileAnswersDoNotPoisonTheNext: data after a response is not taken for the response to the
// next request, although both may use one connection.
func TestHostileAnswersDoNotPoisonTheNext(t *testing.T) {
	log.SetOutput(io.Discard) // net/http logs unsolicited data
	defer log.SetOutput(os.Stderr)
	const rounds = 50
	const poison = okHead + "Content-Length: 6\r\n\r\npoison"
	for name, c := range map[string]struct {
		first string
		want  messages.Class
	}{
		"body longer than promised": {okHead + twoBytes + poison, messages.OK},
		"body where none was":       {okHead + "Content-Length: 0\r\n\r\n" + poison, messages.OK},
		"more behind the chunks":    {chunked + "2\r\nok\r\n0\r\n\r\n" + poison, messages.OK},
		"length and chunks":         {okHead + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + poison, messages.OK},
		"no content, with a body":   {"HTTP/1.1 204 No Content\r\n\r\n" + poison, messages.OK},
		"304 with a body":           {"HTTP/1.1 304 Not Modified\r\n\r\n" + poison, messages.ClientError},
		"redirect with more":        {"HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n" + poison, messages.Redirect},
		"error page with more":      {"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno" + poison, messages.Gone},
		"compressed, with more":     {okHead + "Content-Encoding: gzip\r\nContent-Length: 0\r\n\r\n" + poison, messages.OK},
		"image with more":           {"HTTP/1.1 200 OK\r\nContent-Type: image/gif\r\nContent-Length: 2\r\n\r\nno" + poison, messages.UnsupportedType},
	} {
		t.Run(name, func(t *testing.T) {
			srv := newHostileListener(t, poisoned(c.first), nil)
			client := newTestClient(t, hostileConfig())
			for range rounds {
				if r := exchangeWithin(t, t.Context(), client, hostileAsk(srv.url("http", "/bad"))); r.Class != c.want {
					t.Fatalf("first: class %s (%s), want %s", r.Class, r.Text, c.want)
				}
				if r := exchangeWithin(t, t.Context(), client, hostileAsk(srv.url("http", "/good"))); r.Class != messages.OK || string(r.Body.Data) != "good" {
					t.Fatalf("next: class %s (%s), body %q", r.Class, r.Text, r.Body.Data)
				}
			}
			srv.wantLeft(t, client)
		})
	}
}

// poisoned answers requests for /bad with bad, and others as expected.
func poisoned(bad string) func(*peer) {
	return func(p *peer) {
		for p.request() {
			text := okHead + "Content-Length: 4\r\n\r\ngood"
			if strings.HasPrefix(p.line, "GET /bad ") {
				text = bad
			}
			if !p.say(text) {
				return
			}
		}
	}
}

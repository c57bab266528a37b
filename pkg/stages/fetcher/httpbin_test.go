package fetcher

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mccutchen/go-httpbin/v2/httpbin"

	"seine/internal/base/weburl"
	"seine/internal/testing/testweb"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// newHTTPBin starts go-httpbin.
func newHTTPBin(t *testing.T) string {
	t.Helper()
	srv := httptest.NewServer(httpbin.New().Handler())
	t.Cleanup(srv.Close)
	return srv.URL
}

// httpbinSpec gives the source the credentials and the rules that some of the endpoints require.
const httpbinSpec = `
user_agent: seine/1 (test)
timeout: 2s
headers: {X-Test: "yes"}
cookies: true
requests:
- match: "*/post?*"
  method: POST
  headers: {Content-Type: application/json}
  body: '{"q": "{q}"}'
- match: "*/put?*"
  method: PUT
  body: "{q}"
- match: "*/patch?*"
  method: PATCH
  body: "{q}"
- match: "*/range/*"
  headers: {Range: bytes=2-5}
`

// TestHTTPBin requests every endpoint whose behaviour matters to a crawler.
func TestHTTPBin(t *testing.T) {
	t.Setenv("SEINE_SECRET_PASSWORD", "pass")
	t.Setenv("SEINE_SECRET_TOKEN", "token")
	base := newHTTPBin(t)
	everything := func(c *Config, _ *crawlspec.Spec, _ *testweb.Config) {
		c.Accept, c.FirstByteTimeout = []string{"*/*"}, crawlspec.Duration(time.Second)
	}
	plain := withSpec(t, httpbinSpec, everything)
	source := "\nsources:\n- hosts: ['" + base + "']\n  auth: "
	basic := withSpec(t, httpbinSpec+source+"{user: user, password: '{secret:PASSWORD}'}", everything)
	bearer := withSpec(t, httpbinSpec+source+"{bearer: '{secret:TOKEN}'}", everything)

	for _, c := range []struct {
		by     *fetcherFixture
		path   string
		class  messages.Class
		status int
		has    string // in the body, or in the location of a redirect
	}{
		{plain, "/", messages.OK, 200, "go-httpbin"},
		{plain, "/get?a=b", messages.OK, 200, `"a"`},
		{plain, "/html", messages.OK, 200, "Moby-Dick"},
		{plain, "/xml", messages.OK, 200, "<slideshow"},
		{plain, "/json", messages.OK, 200, "slideshow"},
		{plain, "/jsonl", messages.OK, 200, "{"},
		{plain, "/encoding/utf8", messages.OK, 200, "∮ E⋅da"},
		{plain, "/forms/post", messages.OK, 200, "<form"},
		{plain, "/anything/x?y=1", messages.OK, 200, `"GET"`},
		{plain, "/base64/c2VpbmU=", messages.OK, 200, "seine"},
		{plain, "/links/3/0", messages.OK, 200, "href"},
		{plain, "/uuid", messages.OK, 200, "uuid"},
		{plain, "/image/png", messages.OK, 200, "PNG"},
		{plain, "/robots.txt", messages.OK, 200, "Disallow: /deny"},

		{plain, "/user-agent", messages.OK, 200, "seine/1 (test)"},
		{plain, "/headers", messages.OK, 200, "X-Test"},
		{plain, "/ip", messages.OK, 200, "127.0.0.1"},
		{plain, "/dump/request", messages.OK, 200, "Accept-Encoding: gzip, deflate, br, zstd"},
		{plain, "/response-headers?X-A=1", messages.OK, 200, "X-A"},

		{plain, "/post?q=x", messages.OK, 200, `{\"q\": \"x\"}`},
		{plain, "/put?q=x", messages.OK, 200, `"PUT"`},
		{plain, "/patch?q=x", messages.OK, 200, `"PATCH"`},
		{plain, "/post", messages.ClientError, 405, ""},
		{plain, "/delete", messages.ClientError, 405, ""},

		{plain, "/status/200", messages.OK, 200, ""},
		{plain, "/status/204", messages.OK, 204, ""},
		{plain, "/status/206", messages.OK, 206, ""},
		{plain, "/status/300", messages.ClientError, 300, ""},
		{plain, "/status/301", messages.Redirect, 301, "/redirect/1"},
		{plain, "/status/302", messages.Redirect, 302, "/redirect/1"},
		{plain, "/status/304", messages.ClientError, 304, ""},
		{plain, "/status/400", messages.ClientError, 400, ""},
		{plain, "/status/401", messages.ClientError, 401, ""},
		{plain, "/status/403", messages.ClientError, 403, ""},
		{plain, "/status/404", messages.Gone, 404, ""},
		{plain, "/status/408", messages.ServerError, 408, ""},
		{plain, "/status/410", messages.Gone, 410, ""},
		{plain, "/status/418", messages.ClientError, 418, ""},
		{plain, "/status/425", messages.ServerError, 425, ""},
		{plain, "/status/429", messages.Throttled, 429, ""},
		{plain, "/status/451", messages.ClientError, 451, ""},
		{plain, "/status/500", messages.ServerError, 500, ""},
		{plain, "/status/502", messages.ServerError, 502, ""},
		{plain, "/status/503", messages.ServerError, 503, ""},
		{plain, "/status/599", messages.ServerError, 599, ""},
		{plain, "/unstable?failure_rate=1", messages.ServerError, 500, ""},
		{plain, "/unstable?failure_rate=0", messages.OK, 200, ""},

		{plain, "/redirect/2", messages.Redirect, 302, "/relative-redirect/1"},
		{plain, "/relative-redirect/1", messages.Redirect, 302, "/get"},
		{plain, "/absolute-redirect/2", messages.Redirect, 302, "/absolute-redirect/1"},
		{plain, "/redirect-to?url=/html&status_code=301", messages.Redirect, 301, "/html"},
		{plain, "/redirect-to?url=/html&status_code=307", messages.Redirect, 307, "/html"},
		{plain, "/redirect-to?url=http://elsewhere.example/x&status_code=308", messages.Redirect, 308, "http://elsewhere.example/x"},
		{plain, "/redirect-to?url=ftp://elsewhere.example/", messages.ClientError, 302, ""},

		{plain, "/gzip", messages.OK, 200, `"gzipped": true`},
		{plain, "/deflate", messages.OK, 200, `"deflated": true`},
		{plain, "/brotli", messages.ServerError, 501, ""}, // go-httpbin has none

		{plain, "/drip?duration=100ms&numbytes=5&delay=0s", messages.OK, 200, "*****"},
		{plain, "/drip?duration=10s&numbytes=10&delay=0s", messages.Timeout, 200, ""},
		{plain, "/delay/50ms", messages.OK, 200, ""},
		{plain, "/delay/9s", messages.Timeout, 0, ""},
		{plain, "/stream/3", messages.OK, 200, `"id":2`},
		{plain, "/stream-bytes/3000?seed=1", messages.OK, 200, ""},
		{plain, "/sse?count=2&duration=100ms", messages.OK, 200, "event: ping"},
		{plain, "/trailers?X-T=1", messages.OK, 200, ""},
		{plain, "/bytes/1000", messages.OK, 200, ""},
		{plain, "/range/10", messages.OK, 206, "cdef"},

		{plain, "/cookies/set?k=v", messages.Redirect, 302, "/cookies"},
		{plain, "/cookies", messages.OK, 200, `"k": "v"`}, // set by the one before
		{plain, "/cookies/delete?k=", messages.Redirect, 302, "/cookies"},
		{plain, "/cookies?n=2", messages.OK, 200, "{}"},

		{plain, "/basic-auth/user/pass", messages.ClientError, 401, ""},
		{basic, "/basic-auth/user/pass", messages.OK, 200, `"authenticated": true`},
		{basic, "/basic-auth/user/other", messages.ClientError, 401, ""},
		{basic, "/hidden-basic-auth/user/pass", messages.OK, 200, ""},
		{plain, "/hidden-basic-auth/user/pass", messages.Gone, 404, ""},
		{bearer, "/bearer", messages.OK, 200, `"token": "token"`},
		{plain, "/bearer", messages.ClientError, 401, ""},
		{plain, "/digest-auth/auth/user/pass", messages.ClientError, 401, ""},

		{plain, "/cache", messages.OK, 200, ""},
		{plain, "/cache/60", messages.OK, 200, ""},
		{plain, "/etag/abc", messages.OK, 200, ""},
		{plain, "/deny", messages.OK, 200, "YOU SHOULDN'T BE HERE"},
		{plain, "/no/such/page", messages.Gone, 404, ""},
	} {
		t.Run(strings.TrimPrefix(c.path, "/"), func(t *testing.T) {
			h := c.by.get(canonical(t, base+c.path))
			h.wants(t, c.class)
			if h.Status != c.status {
				t.Errorf("status %d, want %d", h.Status, c.status)
			}
			if got := string(h.body) + h.Location; !strings.Contains(got, c.has) {
				t.Errorf("got %.300s, want %q in it", got, c.has)
			}
			if h.Timings.Total == 0 && c.class == messages.Timeout {
				t.Error("no timings")
			}
		})
	}
}

// Paths that the robots.txt of httpbin denies are not requested.
func TestHTTPBinDeny(t *testing.T) {
	base := newHTTPBin(t)
	s := newFetcherFixture(t, func(c *Config, _ *crawlspec.Spec, _ *testweb.Config) { c.Accept = []string{"*/*"} })
	s.get(base+"/deny").wants(t, messages.RobotsDenied)
	s.get(base+"/get").wants(t, messages.OK)
}

// A validator that the frontier remembers saves the body.
func TestHTTPBinConditional(t *testing.T) {
	base := newHTTPBin(t)
	s := newFetcherFixture(t, ignoreRobots, func(c *Config, _ *crawlspec.Spec, _ *testweb.Config) { c.Accept = []string{"*/*"} })
	for _, path := range []string{"/etag/abc", "/cache"} {
		first := s.get(base + path)
		first.wants(t, messages.OK)
		again := request(base + path)
		again.ETag, again.LastModified = first.ETag, first.LastModified
		if again.ETag+again.LastModified == "" {
			t.Fatalf("%s: no validator in %+v", path, first.page.Header)
		}
		s.handle1(again, 1).wants(t, messages.NotModified)
	}
}

// httpbin reports the request as it was meant to be sent.
func TestHTTPBinSeesTheRequest(t *testing.T) {
	base := newHTTPBin(t)
	s := withSpec(t, "headers: {X-One: '1'}\nrequests:\n- match: '*'\n  method: POST\n  query: {page: '2'}\n"+
		"  headers: {Content-Type: application/x-www-form-urlencoded}\n  body: 'q={q}'",
		func(c *Config, _ *crawlspec.Spec, _ *testweb.Config) { c.Accept = []string{"*/*"} })
	h := s.get(base + "/anything?q=a%20b")
	h.wants(t, messages.OK)
	var got struct {
		Args, Form, Headers map[string][]string
		Method              string
	}
	if err := json.Unmarshal(h.body, &got); err != nil {
		t.Fatal(err)
	}
	if got.Method != "POST" || got.Args["page"][0] != "2" || len(got.Args["q"]) > 0 || got.Form["q"][0] != "a b" || got.Headers["X-One"][0] != "1" {
		t.Errorf("httpbin saw %+v", got)
	}
}

func canonical(t *testing.T, text string) string {
	t.Helper()
	c, err := weburl.Canonicalize(text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

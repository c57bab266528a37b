package fetcher

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"seine/internal/render"
	"seine/internal/run/specfile"
	"seine/internal/testing/testweb"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

const (
	redactKey   = `K3y+/= "&<\` // URLs, HTML and JSON must escape it
	redactToken = "t0ken-0123456789abcdef"
)

// gossip is a server that repeats what it received, in all the ways of real servers.
type gossip struct {
	*httptest.Server
	queries []string
}

func newGossip(t *testing.T) *gossip {
	t.Helper()
	g := &gossip{}
	g.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.queries = append(g.queries, r.URL.Path+"?"+r.URL.Query().Get("api_key"))
		g.answer(w, r)
	}))
	t.Cleanup(g.Close)
	return g
}

func (g *gossip) answer(w http.ResponseWriter, r *http.Request) {
	key := url.QueryEscape(redactKey)
	if location, ok := map[string]string{
		"/dir":      "/dir/?" + r.URL.RawQuery,
		"/small":    "/dir/?api_key=" + strings.ToLower(key) + "&page=2",
		"/needless": "/dir/?page=2&api_key=" + everyByte(redactKey) + "#top",
		"/nested":   "/login?next=" + url.QueryEscape("/dir?api_key="+key),
		"/path":     "/of/" + url.PathEscape(redactKey) + "/it",
		"/away":     "http://other.example/in?who=" + key + "&x=1",
		"/named":    "/dir/?api_key=something-else",
		"/fragment": "/dir/?page=2#api_key=" + redactToken,
		"/anchor":   "/dir/#" + redactToken + "?" + redactToken,
		"/broken":   "http://[/?q=of-" + redactToken,
	}[r.URL.Path]; ok {
		w.Header()["Location"] = []string{location}
		w.WriteHeader(http.StatusMovedPermanently)
		return
	}
	if r.URL.Path == "/status" {
		w.WriteHeader(http.StatusTeapot)
		return
	}
	self := r.RequestURI
	w.Header()["Link"] = []string{"<" + self + `>; rel="canonical"`}
	w.Header()["X-Echo"] = []string{r.Header.Get("Authorization"), r.Header.Get("X-Key")}
	w.Header()["Refresh"] = []string{"0; url=/dir/?api_key=" + everyByte(redactKey)}
	w.Header()["Etag"] = []string{`"` + r.Header.Get("X-Key") + `"`}
	w.Header()["Set-Cookie"] = []string{"key=" + key}
	w.Header()["Content-Type"] = []string{"text/html; about=" + redactToken}
	body := []byte(strings.Repeat(" ", 1<<15-7) + `<link rel=canonical href="` + html.EscapeString(self) + `"><a href="?api_key=` + everyByte(redactKey) +
		`">next</a><p>` + html.EscapeString(redactKey) + `<script>{"key":"` + inJSON(redactKey) + `", "auth": "` + r.Header.Get("Authorization") + `"}</script>`)
	if r.URL.Path == "/gzip" {
		w.Header().Set("Content-Encoding", "gzip")
		body = gzipped(body)
	}
	_, _ = w.Write(body)
}

// inJSON returns a string in JSON, without the quotes.
func inJSON(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b[1 : len(b)-1])
}

// everyByte percent-encodes each byte of a text.
func everyByte(s string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, "%%%02x", s[i])
	}
	return b.String()
}

// redactSpec has a secret everywhere where one is allowed.
func redactSpec(g *gossip) string {
	return "sources:\n- hosts: ['" + g.URL + "']\n  auth: {user: me, password: '{secret:TOKEN}'}\n  headers: {X-Key: '{secret:TOKEN}'}\n" +
		"requests:\n- match: '" + g.URL + "/*'\n  query: {api_key: '{secret:KEY}'}\n"
}

// holdsSecret returns the first secret in a text, however it is encoded.
func holdsSecret(text string) string {
	for range 3 {
		for _, s := range []string{
			redactKey, redactToken, base64.RawStdEncoding.EncodeToString([]byte("me:" + redactToken)), hex.EncodeToString([]byte(redactKey)),
		} {
			if strings.Contains(text, s) || strings.Contains(html.UnescapeString(text), s) || strings.Contains(text, inJSON(s)) {
				return s
			}
		}
		plain := strings.NewReplacer("+", " ", "% ", "%25 ").Replace(text)
		var err error
		if text, err = url.PathUnescape(plain); err != nil {
			text = unescapeLoosely(plain)
		}
	}
	return ""
}

// unescapeLoosely decodes the escapes of a text with stray percent signs.
func unescapeLoosely(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if i+2 < len(s) && s[i] == '%' {
			if c, err := hex.DecodeString(s[i+1 : i+3]); err == nil {
				b.Write(c)
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// wantNoSecret fails if a message holds a secret.
func wantNoSecret(t *testing.T, h handled) {
	t.Helper()
	for _, m := range h.out.Messages() {
		for _, part := range []string{string(m.Data), fmt.Sprint(m.Header), string(h.body)} {
			if s := holdsSecret(part); s != "" {
				t.Errorf("%s holds %q:\n%s", m.Subject, s, strings.TrimSpace(part))
			}
		}
	}
}

// If a site redirects to a URL with a secret that it received, the target contains no secret. The
// request rule adds it again to the URL without it.
func TestRedirectPublishesNoSecret(t *testing.T) {
	t.Setenv("SEINE_SECRET_KEY", redactKey)
	t.Setenv("SEINE_SECRET_TOKEN", redactToken)
	g := newGossip(t)
	s := withSpec(t, redactSpec(g))
	for path, want := range map[string]string{
		"/dir":      g.URL + "/dir/",
		"/dir?q=1":  g.URL + "/dir/?q=1",
		"/small":    g.URL + "/dir/?page=2",
		"/needless": g.URL + "/dir/?page=2",
		"/nested":   g.URL + "/login?next=%2Fdir%3Fapi_key%3D" + strings.Repeat("x", len(url.QueryEscape(url.QueryEscape(redactKey)))),
		"/away":     "http://other.example/in?x=1",
		"/named":    g.URL + "/dir/",
		"/fragment": g.URL + "/dir/?page=2",
		"/anchor":   g.URL + "/dir/",
	} {
		h := s.get(g.URL + path)
		h.wants(t, messages.Redirect)
		if got := h.urls.URLs[0].URL; got != want || h.Location != want {
			t.Errorf("%s leads to %s, the result says %s, want %s", path, got, h.Location, want)
		}
		wantNoSecret(t, h)
	}
	s.get(g.URL+"/dir/").wants(t, messages.OK)
	if got := g.queries[len(g.queries)-1]; got != "/dir/?"+redactKey {
		t.Errorf("the target was asked for as %q", got)
	}
	for path, want := range map[string]string{"/path": "has a secret of the spec outside its query", "/broken": "redirect without a valid target"} {
		h := s.get(g.URL + path)
		h.wants(t, messages.ClientError)
		if !strings.Contains(h.Error, want) {
			t.Errorf("%s: error %q, want %q in it", path, h.Error, want)
		}
		wantNoSecret(t, h)
	}
}

// Of a page that repeats the request, nothing that is stored contains a secret: not its header, its
// links, its text or its archive.
func TestPageKeepsNoSecret(t *testing.T) {
	t.Setenv("SEINE_SECRET_KEY", redactKey)
	t.Setenv("SEINE_SECRET_TOKEN", redactToken)
	g := newGossip(t)
	for _, archive := range []string{"", "archive: true\n"} {
		s := withSpec(t, archive+redactSpec(g))
		for _, path := range []string{"/", "/gzip"} {
			h := s.get(g.URL + path)
			h.wants(t, messages.OK)
			wantNoSecret(t, h)
			if got := h.page.Header["Refresh"]; len(got) != 1 || !strings.HasPrefix(got[0], "0; url=/dir/?api_key=xxx") {
				t.Errorf("Refresh is %q", got)
			}
			if h.ETag != "" || h.page.Header["Etag"] != nil {
				t.Errorf("a condition would be made with %q", h.ETag)
			}
			if !bytes.Contains(h.body, []byte(`href="?api_key=`+strings.Repeat("x", 3*len(redactKey))+`">next</a>`)) {
				t.Errorf("body %s", bytes.TrimSpace(h.body))
			}
			if archive == "" {
				continue
			}
			_, head, body, err := h.page.Split(pageOf(t, h))
			if err != nil {
				t.Fatal(err)
			}
			fields := string(head)
			if encoded := strings.Contains(fields, "\r\nContent-Encoding:"); encoded != (h.page.BodyEncoding != "") || !bytes.Equal(body, h.body) {
				t.Errorf("the body is in %q, its head says\n%s", h.page.BodyEncoding, fields)
			}
			if path == "/gzip" && !strings.Contains(fields, "\r\nX-Orig-Content-Encoding: gzip\r\nX-Orig-Content-Length: ") &&
				!strings.Contains(fields, "X-Orig-Content-Length: ") {
				t.Errorf("head\n%s", fields)
			}
		}
	}
}

// Pages fetched outside of a crawl are shown to users, too.
func TestOnceShowsNoSecret(t *testing.T) {
	t.Setenv("SEINE_SECRET_KEY", redactKey)
	t.Setenv("SEINE_SECRET_TOKEN", redactToken)
	g := newGossip(t)
	spec := withSpec(t, redactSpec(g)).spec().Spec
	got, err := FetchOne(t.Context(), DefaultConfig(), render.DefaultConfig(), spec, g.URL+"/dir", func(time.Duration) {})
	if err != nil {
		t.Fatal(err)
	}
	if s := holdsSecret(fmt.Sprint(got.Page, got.Via) + string(got.Body)); s != "" || got.Page.URL != g.URL+"/dir/" {
		t.Errorf("%q in %+v, via %v", s, got.Page, got.Via)
	}
	_, err = FetchOne(t.Context(), DefaultConfig(), render.DefaultConfig(), spec, g.URL+"/path", func(time.Duration) {})
	if err == nil || holdsSecret(err.Error()) != "" {
		t.Errorf("error %v", err)
	}
}

// A secret that was added or changed after the spec is redacted from its first use.
func TestSecretThatIsRotatedIsNotPublished(t *testing.T) {
	t.Setenv("SEINE_SECRET_TOKEN", redactToken)
	g := newGossip(t)
	s := withSpec(t, redactSpec(g))
	s.get(g.URL+"/").wants(t, messages.Misconfigured)
	t.Setenv("SEINE_SECRET_KEY", redactKey)
	h := s.get(g.URL + "/")
	h.wants(t, messages.OK)
	wantNoSecret(t, h)
}

// A common word is not redacted in text, but its parameter is removed from URLs by name.
func TestPlainSecretIsHiddenByTheNameOfItsParameter(t *testing.T) {
	t.Setenv("SEINE_SECRET_KEY", "script")
	t.Setenv("SEINE_SECRET_TOKEN", redactToken)
	g := newGossip(t)
	s := withSpec(t, redactSpec(g))
	h := s.get(g.URL + "/dir?a=script&b=2")
	h.wants(t, messages.Redirect)
	if want := g.URL + "/dir/?a=script&b=2"; h.Location != want {
		t.Errorf("leads to %s, want %s", h.Location, want)
	}
	h = s.get(g.URL + "/")
	h.wants(t, messages.OK)
	if !bytes.Contains(h.body, []byte("<script>")) {
		t.Errorf("body %s", bytes.TrimSpace(h.body))
	}
}

// A robots.txt behind a redirect to a URL with a secret counts as unreachable: it does not mean
// that everything is allowed.
func TestRobotsThatOnlyASecretLeadsToIsNotNone(t *testing.T) {
	t.Setenv("SEINE_SECRET_KEY", redactKey)
	t.Setenv("SEINE_SECRET_TOKEN", redactToken)
	g := &gossip{}
	pages := 0
	g.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			w.Header()["Location"] = []string{"/of/" + r.Header.Get("X-Key") + "/robots.txt"}
			w.WriteHeader(http.StatusFound)
			return
		}
		pages++
	}))
	t.Cleanup(g.Close)
	obey := func(_ *Config, s *crawlspec.Spec, _ *testweb.Config) {
		spec, err := specfile.Load("spec.yaml", []byte("allow_private: true\ndelay: 0s\n"+redactSpec(g)))
		if err != nil {
			t.Fatal(err)
		}
		*s = *spec
	}
	h := newFetcherFixture(t, obey).get(g.URL + "/")
	h.wants(t, messages.ProtocolError)
	if !h.Class.Retryable() || !strings.Contains(h.Error, "robots.txt: redirects to a URL that has a secret") || pages > 0 {
		t.Errorf("error %q, %d pages were asked for", h.Error, pages)
	}
	wantNoSecret(t, h)
}

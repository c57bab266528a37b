package main

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// serveCounted serves a handler the way the serving process does.
func serveCounted(t *testing.T, h http.Handler) (url string, s *site) {
	t.Helper()
	counted := &counter{next: h}
	pages := httptest.NewServer(counted)
	t.Cleanup(pages.Close)
	control := httptest.NewServer(counted.control())
	t.Cleanup(control.Close)
	return pages.URL, &site{addresses: addresses{URL: pages.URL + "/index.html", Control: control.URL}, client: control.Client()}
}

func status(t *testing.T, method, url string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

func TestFolderIsCounted(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"index.html": "<p>", "sub/index.html": "<p>", "a b.html": "<p>", "x.css": "p{}"} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	url, s := serveCounted(t, folder(dir))
	requests := 0
	for _, c := range []struct {
		method, path string
		want         int
	}{
		{"GET", "/index.html", 200}, {"GET", "/index.html?", 200}, {"GET", "/sub", 301}, {"GET", "/sub/", 200},
		{"GET", "/a%20b.html", 200}, {"GET", "/%61%20b.html", 200}, {"GET", "/x.css", 200}, {"GET", "/no.html", 404},
		{"GET", "/../index.html", 200}, {"HEAD", "/sub/index.html", 200},
	} {
		requests++
		if got := status(t, c.method, url+c.path); got != c.want {
			t.Errorf("%s %s: %d, want %d", c.method, c.path, got, c.want)
		}
	}

	pages, err := s.pages(t.Context())
	if want := []string{"/../index.html", "/a%20b.html", "/index.html", "/sub/"}; err != nil || !slices.Equal(pages, want) {
		t.Errorf("pages %q, %v", pages, err)
	}
	seen, err := s.stats(t.Context())
	if err != nil || seen.Requests != requests || seen.Pages != len(pages) {
		t.Errorf("%+v, %v", seen, err)
	}
	if s.origin() != url {
		t.Errorf("origin %s of %s", s.origin(), url)
	}
	if err := s.reset(t.Context()); err != nil {
		t.Fatal(err)
	}
	if seen, err := s.stats(t.Context()); err != nil || seen.Requests != 0 || seen.Pages != 0 {
		t.Errorf("after reset: %+v, %v", seen, err)
	}
}

func TestTestWebIsServedPlain(t *testing.T) {
	o := siteOptions{Pages: 200}
	url, s := serveCounted(t, o.handler())
	for range 2 { // rendered, then from memory
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if !isHTML(resp.Header) || resp.ContentLength <= 0 {
			t.Errorf("headers %v", resp.Header)
		}
	}
	if got := status(t, "GET", url+"/static/site.css"); got != 200 {
		t.Errorf("stylesheet: %d", got)
	}
	if seen, err := s.stats(t.Context()); err != nil || seen.Pages != 1 || seen.Requests != 3 {
		t.Errorf("%+v, %v", seen, err)
	}
}

func TestPlainLinks(t *testing.T) {
	const in = `<a href="http://h:1/a"> <a href='//h:1/b'> <a href="/i?id=1&#38;l=en"> <a href="/i?id=2&amp;l=en"> <a href="/caf&eacute;">`
	const want = `<a href="http://h:1/a"> <a href='/b'> <a href="/i?id=1&l=en"> <a href="/i?id=2&l=en"> <a href="/café">`
	if got := plainLinks("h:1").Replace(in); got != want {
		t.Errorf("got %s", got)
	}
}

func TestSiteArgsRoundTrip(t *testing.T) {
	o := siteOptions{Dir: "/srv/a b", Index: "in dex.html", Pages: 7, TLS: true}
	if got := strings.Join(o.args(), "|"); got != "serve|--dir|/srv/a b|--index|in dex.html|--pages|7|--tls=true" || o.start() != "/in%20dex.html" {
		t.Errorf("args %s, start %s", got, o.start())
	}
}

func TestSiteByHTTPS(t *testing.T) {
	s := listenTLS(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	t.Cleanup(s.Close)
	resp, err := s.Client().Get(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.ProtoMajor != 2 || resp.TLS.Version != tls.VersionTLS13 {
		t.Errorf("answered by %s over %s, want HTTP/2 over TLS 1.3", resp.Proto, tls.VersionName(resp.TLS.Version))
	}
}

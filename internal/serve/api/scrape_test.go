package api_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"seine/internal/serve"
	"seine/internal/serve/api"
)

// A program fetches single pages, with default or custom rules, and lists the URLs of a site, all
// without a crawl.
func TestSinglePages(t *testing.T) {
	t.Parallel()
	seed := site(t)
	s := newServer(t, filepath.Join(t.TempDir(), "data"))
	ask := func(path, spec string) string {
		return fmt.Sprintf(`{"url": %q, "spec": %q}`, seed+path, "allow_private: true\ndelay: 0s\n"+spec)
	}
	var page struct {
		URL      string
		Status   int
		Markdown string
		Metadata struct{ Title, Description string }
		Links    []struct{ URL string }
		Records  []map[string]any
	}
	s.want(200, &page, "POST", "/scrape", ask("/1", ""))
	if page.URL != seed+"/1" || page.Status != 200 || page.Metadata.Title != "Product /1" || page.Metadata.Description != "About /1" ||
		!strings.Contains(page.Markdown, "Product /1") || len(page.Links) != 1 || page.Links[0].URL != seed+"/" || len(page.Records) != 1 {
		t.Errorf("%+v", page)
	}
	s.want(200, &page, "POST", "/scrape", ask("/2", "records: [{kind: product, fields: {price: {css: .price, as: number}}}]"))
	if len(page.Records) != 1 || page.Records[0]["price"] != 2.0 || page.Metadata.Title != "Product /2" {
		t.Errorf("%+v", page)
	}
	var m struct {
		URLs     []struct{ URL, Source string }
		Sitemaps []string
	}
	s.want(200, &m, "POST", "/map", ask("/", "exclude: ['*/private/*']"))
	has := func(url, source string) bool {
		return slices.ContainsFunc(m.URLs, func(f struct{ URL, Source string }) bool { return f.URL == seed+url && f.Source == source })
	}
	if !has("/", "start") || !has("/9", "link") || !has("/hidden", "sitemap") || len(m.URLs) != 12 || len(m.Sitemaps) != 1 {
		t.Errorf("%+v", m)
	}
	if s.want(200, &m, "POST", "/map", strings.Replace(ask("/", ""), "{", `{"limit": 3, `, 1)); len(m.URLs) != 3 {
		t.Errorf("%+v", m)
	}
	for _, c := range []badRequest{
		{"", "/scrape", ask("/forbidden", ""), http.StatusForbidden, "robots.txt", nil},
		{"", "/scrape", ask("/broken", ""), http.StatusBadGateway, "404 Not Found: the page does not exist: check the URL", nil},
		{"", "/scrape", `{"url": "http://a.test/", "formats": ["gold"]}`, 422, "formats", nil},
		{"", "/scrape", `{"url": "http://a.test/", "limit": 0}`, 422, "limit", nil},
		{"", "/scrape", fmt.Sprintf(`{"url": %q, "spec": "delay: 0s"}`, seed), http.StatusForbidden, "allow_private: true", nil},
		{"", "/scrape", `{"url": "nonsense"}`, 422, "http", nil},
		{"", "/scrape", `{"url": "file:///etc/passwd"}`, 422, "http", nil},
		{"", "/scrape", `{"url": ""}`, 422, "url", nil},
		{"", "/scrape", `{}`, 422, "url", nil},
		{"", "/scrape", `{"url": "http://a.test/", "crawl": "nobody"}`, 404, "no crawl exists yet", nil},
		{"", "/scrape", `{"url": "http://a.test/", "crawl": "c", "spec": "scope: any"}`, 422, "either", nil},
		{"", "/scrape", `{"url": "http://a.test/", "spec": "colour: red"}`, 422, "colour", nil},
		{"", "/map", `{"url": "http://a.test/", "limit": 0}`, 422, "limit", nil},
	} {
		a := s.do("POST", c.path, c.body)
		if detail := s.problemOf(a); a.status != c.status || !strings.Contains(detail, c.advice) {
			t.Errorf("%s %s: %v, want %d and %q", c.path, c.body, a, c.status, c.advice)
		}
	}
}

// An HTML page whose text comes only from scripts is reported, unless it was rendered; other empty
// pages are not.
func TestSinglePageWithoutText(t *testing.T) {
	t.Parallel()
	s := newServer(t, filepath.Join(t.TempDir(), "data"), func(_ *serve.Options, a *api.Options) { a.AllowPrivate = true })
	for _, c := range []struct {
		contentType, body string
		want              bool
	}{
		{"text/html", "<title>Shop</title><div></div><script src=/app.js></script>", true},
		{"text/html", "<title>Shop</title><p>A text.<script src=/app.js></script>", false},
		{"text/html", "<title>Shop</title><div></div>", false},
		{"text/html", `<script type="application/ld+json">{}</script>`, false},
		{"text/plain", "", false},
	} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/" {
				http.NotFound(w, r)
				return
			}
			w.Header().Set("Content-Type", c.contentType)
			_, _ = io.WriteString(w, c.body)
		}))
		t.Cleanup(srv.Close)
		var page struct{ Problems []struct{ Reason string } }
		s.want(200, &page, "POST", "/scrape", fmt.Sprintf(`{"url": %q}`, srv.URL+"/"))
		if got := len(page.Problems) == 1 && strings.Contains(page.Problems[0].Reason, "render: auto"); got != c.want || !c.want && len(page.Problems) > 0 {
			t.Errorf("%s %s: %+v", c.contentType, c.body, page.Problems)
		}
	}
}

// A request without a spec has the permissions that the server allows.
func TestSinglePagesFollowTheServerWithoutASpec(t *testing.T) {
	t.Parallel()
	s := newServer(t, filepath.Join(t.TempDir(), "data"), func(_ *serve.Options, a *api.Options) { a.AllowPrivate = true })
	seed := site(t)
	for spec, want := range map[string]int{"": http.StatusOK, `, "spec": null`: http.StatusOK} {
		if a := s.do("POST", "/scrape", fmt.Sprintf(`{"url": %q%s}`, seed+"/1", spec)); a.status != want {
			t.Errorf("with %q: %v, want status %d", spec, a, want)
		}
	}
}

// Private addresses are not reached for a caller unless the owner of the server allows it, whatever
// the spec or a redirect says.
func TestSinglePagesAreGuarded(t *testing.T) {
	t.Parallel()
	seed := site(t)
	s := newServer(t, filepath.Join(t.TempDir(), "data"), func(_ *serve.Options, a *api.Options) { a.AllowPrivate = false })
	for _, path := range []string{"/scrape", "/map"} {
		for _, body := range []string{fmt.Sprintf(`{"url": %q}`, seed), fmt.Sprintf(`{"url": %q, "spec": {"allow_private": true}}`, seed), `{"url": "http://169.254.169.254/latest/"}`, `{"url": "http://[::1]/"}`} {
			if a := s.do("POST", path, body); a.status != http.StatusForbidden || !strings.Contains(s.problemOf(a), "--allow-private") {
				t.Errorf("%s %s: %v", path, body, a)
			}
		}
	}
}

// The answer has the requested formats, and long texts in parts.
func TestFormatsOfSinglePages(t *testing.T) {
	t.Parallel()
	s := newServer(t, filepath.Join(t.TempDir(), "data"), func(_ *serve.Options, a *api.Options) { a.AllowPrivate = true })
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=latin1")
		_, _ = io.WriteString(w, "<title>T</title><nav><a href=/a>menu</a></nav><main><h1>Caf\xe9</h1><p>A long text, which has a sentence, and one more sentence.</p></main>")
	}))
	t.Cleanup(srv.Close)
	for request, want := range map[string]string{
		``:                             `links markdown metadata notes problems records rules`,
		`, "formats": ["markdown"]`:    `markdown metadata problems`,
		`, "formats": ["text","html"]`: `html metadata problems text`,
		`, "formats": ["raw_html"]`:    `metadata problems raw_html`,
		`, "formats": ["links"]`:       `links metadata problems`,
		`, "formats": ["record"]`:      `metadata notes problems records rules`,
	} {
		var page map[string]any
		s.want(200, &page, "POST", "/scrape", fmt.Sprintf(`{"url": %q, "spec": {"allow_private": true, "delay": "0s"}%s}`, srv.URL, request))
		var parts []string
		for name := range page {
			if !slices.Contains([]string{"url", "status", "content_type", "type", "bytes", "fetch_ms", "$schema"}, name) {
				parts = append(parts, name)
			}
		}
		if slices.Sort(parts); strings.Join(parts, " ") != want && strings.ReplaceAll(want, "notes ", "") != strings.Join(parts, " ") {
			t.Errorf("%s: %v, want %s", request, parts, want)
		}
	}
	var page struct {
		Markdown, HTML, Text string
		RawHTML              string `json:"raw_html"`
		Next                 int    `json:"next_offset"`
	}
	s.want(200, &page, "POST", "/scrape", fmt.Sprintf(`{"url": %q, "formats": ["markdown", "html", "text", "raw_html"]}`, srv.URL))
	if !strings.HasPrefix(page.Markdown, "# Café\n\nA long text") || !strings.Contains(page.HTML, "<h1>Café</h1>") || strings.Contains(page.HTML, "menu") ||
		!strings.Contains(page.Text, "menu") || !strings.Contains(page.RawHTML, "<nav>") || !strings.Contains(page.RawHTML, "Café") {
		t.Errorf("%+v", page)
	}
	whole := page.Markdown
	var all string
	for next := 0; ; next = page.Next {
		page.Next = 0
		s.want(200, &page, "POST", "/scrape", fmt.Sprintf(`{"url": %q, "spec": {"allow_private": true, "delay": "0s"}, "formats": ["markdown"], "offset": %d, "limit": 6}`, srv.URL, next))
		if all += page.Markdown; page.Next == 0 || len(all) > 1000 {
			break
		}
	}
	if all != whole {
		t.Errorf("%q, want %q", all, whole)
	}
}

// The site's response is described in fields, with one fitting piece of advice. Responses that are
// not pages have the fields that apply.
func TestSinglePagesSayHowTheirSiteAnswers(t *testing.T) {
	t.Parallel()
	s := newServer(t, filepath.Join(t.TempDir(), "data"), func(_ *serve.Options, a *api.Options) { a.AllowPrivate = true })
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/robots.txt":
			http.NotFound(w, r)
		case "/json":
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"a": 1}`)
		case "/png":
			w.Header().Set("Content-Type", "image/png")
			_, _ = io.WriteString(w, "\x89PNG\r\n\x1a\n")
		case "/xml":
			w.Header().Set("Content-Type", "application/xml")
			_, _ = io.WriteString(w, `<a>text</a>`)
		case "/circle":
			http.Redirect(w, r, "/circle", http.StatusFound)
		default:
			status, _ := strconv.Atoi(r.URL.Path[1:])
			w.WriteHeader(status)
		}
	}))
	t.Cleanup(srv.Close)
	for _, c := range []struct {
		path, class, advice string
		status              int
	}{
		{"404", "gone", "check the URL", 404},
		{"410", "gone", "check the URL", 410},
		{"403", "client_error", "login", 403},
		{"429", "throttled", "later", 429},
		{"500", "server_error", "later", 500},
		{"circle", "client_error", "redirects", 302},
	} {
		a := s.do("POST", "/scrape", fmt.Sprintf(`{"url": "%s/%s", "spec": {"allow_private": true, "delay": "0s"}}`, srv.URL, c.path))
		var p struct {
			Site struct {
				URL, Class string
				Status     int
			}
		}
		if err := json.Unmarshal(a.text, &p); err != nil || a.status != http.StatusBadGateway || p.Site.Class != c.class || p.Site.Status != c.status ||
			p.Site.URL != srv.URL+"/"+c.path || !strings.Contains(s.problemOf(a), c.advice) || strings.Contains(s.problemOf(a), "browser") {
			t.Errorf("%s: %v", c.path, a)
		}
	}
	for _, c := range [][2]string{{"json", "json"}, {"png", "image"}, {"xml", "xml"}} {
		var page struct {
			Type     string
			Metadata struct{ URL string }
		}
		s.want(200, &page, "POST", "/scrape", fmt.Sprintf(`{"url": "%s/%s", "spec": {"allow_private": true, "delay": "0s"}}`, srv.URL, c[0]))
		if page.Type != c[1] || page.Metadata.URL != srv.URL+"/"+c[0] {
			t.Errorf("%s: %+v", c[0], page)
		}
	}
}

// One request fetches several pages, with results in the same order, and keeps to the host's delay.
func TestBatchOfPages(t *testing.T) {
	t.Parallel()
	s := newServer(t, filepath.Join(t.TempDir(), "data"))
	seed := site(t)
	other := strings.Replace(seed, "127.0.0.1", "localhost", 1)
	urls := []string{seed + "/1", "nonsense", other + "/2", seed + "/broken", seed + "/3", seed + "/1"}
	text, err := json.Marshal(map[string]any{"urls": urls, "formats": []string{"markdown"}, "spec": "allow_private: true\ndelay: 100ms"})
	if err != nil {
		t.Fatal(err)
	}
	var batch struct {
		Results []struct {
			URL  string
			Page *struct {
				URL, Markdown string
				Links         []any
			}
			Problem *struct {
				Status int
				Detail string
				Site   struct{ Class string }
			}
		}
	}
	s.want(200, &batch, "POST", "/scrape/batch", string(text))
	for i, r := range batch.Results {
		switch {
		case r.URL != urls[i]:
			t.Errorf("%d is of %s, want %s", i, r.URL, urls[i])
		case i == 1 && (r.Problem == nil || r.Problem.Status != 422), i == 3 && (r.Problem == nil || r.Problem.Site.Class != "gone" || r.Problem.Detail == ""):
			t.Errorf("%s: %+v", r.URL, r.Problem)
		case i != 1 && i != 3 && (r.Page == nil || r.Problem != nil || r.Page.URL != urls[i] || !strings.Contains(r.Page.Markdown, "Product") || r.Page.Links != nil):
			t.Errorf("%s: %+v %+v", r.URL, r.Page, r.Problem)
		}
	}
	if len(batch.Results) != len(urls) {
		t.Errorf("%d results", len(batch.Results))
	}
	for _, body := range []string{`{"urls": []}`, `{}`, `{"urls": ["http://a.test/"], "crawl": "a b"}`, `{"urls": ["http://a.test/"], "spec": "colour: red"}`} {
		s.want(422, nil, "POST", "/scrape/batch", body)
	}
}

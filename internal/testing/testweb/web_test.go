package testweb

import (
	"bytes"
	"compress/gzip"
	"encoding/xml"
	"fmt"
	"image/png"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

const base0 = "http://h0.localhost:8080"

var rich = Config{
	Seed: 7, Hosts: 3, PagesPerHost: 200, CrossHostLinks: 0.2, ErrorRate: 0.1, ErrorTries: 2, MissingRate: 0.1,
	RedirectRate: 0.2, Traps: true, Special: true, Sitemap: true,
}

func TestLargePages(t *testing.T) {
	if withRace {
		t.Skip("runs without the race detector")
	}
	w := New(Config{Seed: 3, PagesPerHost: 100, LargeRate: 0.05})
	large := 0
	for _, path := range w.Pages(0) {
		body := get(w, base0+path).Body.Bytes()
		if len(body) < 1<<20 {
			continue
		}
		large++
		if len(body) > 5<<20 || !bytes.HasSuffix(body, []byte("</html>\n")) {
			t.Errorf("%s has %d bytes, and ends with %q", path, len(body), body[len(body)-10:])
		}
		var z bytes.Buffer
		f := gzip.NewWriter(&z)
		_, _ = f.Write(body)
		if _ = f.Close(); z.Len() < len(body)*2/3 {
			t.Errorf("%s: %d bytes become %d", path, len(body), z.Len())
		}
	}
	if large < 1 || large > 15 {
		t.Errorf("%d of 100 pages are large, want some 5", large)
	}
}

func TestSameSeedSameBytes(t *testing.T) {
	a, b := New(rich), New(rich)
	cfg := rich
	cfg.Seed++
	other := New(cfg)
	differ := false
	for _, path := range a.Pages(1) {
		target := "http://h1.localhost:8080" + path
		get(a, target) // a's flaky pages advance before b's; their final content must not depend on that
		get(a, target)
		get(b, target)
		get(b, target)
		got, want := get(a, target), get(b, target)
		if got.Code != http.StatusOK || !bytes.Equal(got.Body.Bytes(), want.Body.Bytes()) {
			t.Fatalf("%s: status %d, same body %v", path, got.Code, bytes.Equal(got.Body.Bytes(), want.Body.Bytes()))
		}
		differ = differ || !bytes.Equal(get(other, target).Body.Bytes(), got.Body.Bytes())
	}
	if !differ {
		t.Error("another seed gave the same web")
	}
}

func TestEveryPageIsReachable(t *testing.T) {
	if withRace {
		t.Skip("runs without the race detector")
	}
	for _, mode := range []RobotsMode{RobotsRules, RobotsMissing} {
		for host := range 2 {
			t.Run(fmt.Sprint(mode, host), func(t *testing.T) {
				cfg := rich
				cfg.RobotsTxt = mode
				checkCrawl(t, New(cfg), host)
			})
		}
	}
}

func checkCrawl(t *testing.T, w *Web, host int) {
	base := fmt.Sprintf("http://h%d.localhost:8080", host)
	forbidden := map[string]bool{}
	for _, p := range w.Disallowed(host) {
		forbidden[base+p] = true
	}
	linked := map[string]bool{}
	c := crawl(t, w, base+"/", func(u *url.URL) bool {
		linked[u.String()] = true
		if strings.HasPrefix(u.Path, HiddenPrefix) {
			t.Errorf("hidden link %s found", u)
		}
		special := strings.HasPrefix(u.Path, specialPrefix)
		return strings.HasPrefix(u.String(), base+"/") && !forbidden[u.String()] && !IsTrap(u.RequestURI()) && !special
	})
	sameSet(t, c.html(base), w.Pages(host))
	for u := range forbidden {
		if !linked[u] {
			t.Errorf("%s is forbidden but nobody links it", u)
		}
	}
	for u, status := range c.status {
		dead := strings.HasPrefix(u, base+"/missing/")
		if gone := status == http.StatusNotFound || status == http.StatusGone; gone != dead {
			t.Errorf("%s answered %d", u, status)
		}
	}
	for _, p := range w.Flaky(host) {
		if n := w.Count(host, p); n != 3 {
			t.Errorf("flaky %s asked for %d times, want 3", p, n)
		}
	}
	for _, paths := range [][]string{w.Missing(host), w.Redirects(host)} {
		for _, p := range paths {
			if n := w.Count(host, p); n != 1 {
				t.Errorf("%s asked for %d times, want 1", p, n)
			}
		}
	}
	if len(w.Flaky(host)) == 0 || len(w.Missing(host)) == 0 || len(w.Redirects(host)) == 0 {
		t.Error("the web has no faults to find")
	}
}

func TestPathsAreFoundAgain(t *testing.T) {
	w := New(Config{Seed: 3, PagesPerHost: 3000, Hosts: 2})
	seen := map[string]bool{}
	for page := range 3000 {
		path := w.Path(1, page)
		if seen[path] {
			t.Fatalf("path %s twice", path)
		}
		seen[path] = true
		if got, ok := w.site.find(1, path); !ok || got != page {
			t.Fatalf("find(%q) = %d, %v; want %d", path, got, ok, page)
		}
	}
	for _, path := range []string{"/x-1.html", "/item.php?id=1", w.Path(1, 5) + "x", "/-", "/id=", w.Path(0, 5)} {
		if _, ok := w.site.find(1, path); ok && !seen[path] {
			t.Errorf("found %q", path)
		}
	}
}

func TestRobots(t *testing.T) {
	cases := []struct {
		mode     RobotsMode
		status   int
		contains string
		pages    bool
	}{
		{"", http.StatusOK, "Disallow: /private/\nAllow: /private/open/\nCrawl-delay: 0.5\n", true},
		{RobotsMissing, http.StatusNotFound, "", true},
		{RobotsError, http.StatusServiceUnavailable, "", false},
		{RobotsDenyAll, http.StatusOK, "Disallow: /\n", false},
	}
	for _, c := range cases {
		w := New(Config{RobotsTxt: c.mode, CrawlDelay: 5e8, Sitemap: true})
		res := get(w, base0+"/robots.txt")
		if res.Code != c.status || !strings.Contains(res.Body.String(), c.contains) {
			t.Errorf("%q: %d %q", c.mode, res.Code, res.Body)
		}
		if c.status == http.StatusOK && !strings.Contains(res.Body.String(), "Sitemap: "+base0+"/sitemap.xml\n") {
			t.Errorf("%q names no sitemap: %q", c.mode, res.Body)
		}
		if got := len(w.Pages(0)) > 0; got != c.pages {
			t.Errorf("%q: has pages: %v", c.mode, got)
		}
		if len(w.Disallowed(0)) == 0 != (c.mode == RobotsMissing) {
			t.Errorf("%q: disallowed %v", c.mode, w.Disallowed(0))
		}
	}
}

func TestSitemaps(t *testing.T) {
	for _, pages := range []int{50, 2500} {
		w := New(Config{PagesPerHost: pages, Sitemap: true})
		files := []string{base0 + "/sitemap.xml"}
		var got []string
		for len(files) > 0 {
			var doc struct {
				Maps  []string `xml:"sitemap>loc"`
				Pages []string `xml:"url>loc"`
			}
			if err := xml.Unmarshal(get(w, files[0]).Body.Bytes(), &doc); err != nil {
				t.Fatalf("%s: %v", files[0], err)
			}
			files = append(files[1:], doc.Maps...)
			for _, p := range doc.Pages {
				got = append(got, strings.TrimPrefix(p, base0))
			}
		}
		sameSet(t, got, w.site.tree(0))
	}
}

func TestConditionalAndHead(t *testing.T) {
	w := New(Config{})
	target := base0 + w.Path(0, 3)
	full := get(w, target)
	ask := func(method, header, value string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, target, nil)
		r.Header.Set(header, value)
		res := httptest.NewRecorder()
		w.ServeHTTP(res, r)
		return res
	}
	etag, modified := full.Header().Get("ETag"), full.Header().Get("Last-Modified")
	cases := []struct {
		method, header, value string
		status                int
	}{
		{"GET", "If-None-Match", etag, 304},
		{"GET", "If-None-Match", `"x", W/` + etag, 304},
		{"GET", "If-None-Match", `"x"`, 200},
		{"GET", "If-Modified-Since", modified, 304},
		{"GET", "If-Modified-Since", "Mon, 01 Jan 2001 00:00:00 GMT", 200},
		{"HEAD", "X-Nothing", "", 200},
		{"POST", "X-Nothing", "", 405},
	}
	for _, c := range cases {
		res := ask(c.method, c.header, c.value)
		if res.Code != c.status {
			t.Errorf("%s with %s %s: %d, want %d", c.method, c.header, c.value, res.Code, c.status)
		}
		if (c.status == 304 || c.method == "HEAD") && res.Body.Len() > 0 {
			t.Errorf("%s with %s: a body", c.method, c.header)
		}
		if c.method == "HEAD" && res.Header().Get("Content-Length") != fmt.Sprint(full.Body.Len()) {
			t.Errorf("HEAD gave length %s, GET %d", res.Header().Get("Content-Length"), full.Body.Len())
		}
	}
}

func TestHostNames(t *testing.T) {
	w := New(Config{Hosts: 3})
	home := get(w, "http://h0.localhost/").Body.Len()
	for name, want := range map[string]int{
		"h0.localhost": 0, "H2.LOCALHOST:80": 2, "127.0.0.1:8080": 0, "[::1]:8080": 0, "testweb": 0, "h3.localhost": -1,
		"h.localhost": 0, "hx.localhost": 0,
	} {
		if got := w.hostOf(&http.Request{Host: name}); got != want {
			t.Errorf("%s is host %d, want %d", name, got, want)
		}
	}
	if res := get(w, "http://h9.localhost/"); res.Code != http.StatusMisdirectedRequest {
		t.Errorf("host out of range: %d", res.Code)
	}
	if got := get(w, "http://h1.localhost/").Body.Len(); got == home {
		t.Error("two hosts have the same home page")
	}
}

func TestSizesSpreadAroundTheMedian(t *testing.T) {
	w := New(Config{PagesPerHost: 1001, PageBytes: 8000, LinksPerPage: 5})
	below := 0
	for page := range 1001 {
		size := get(w, base0+w.Path(0, page)).Body.Len()
		if size < 1000 || size > 70_000 {
			t.Errorf("page %d has %d bytes", page, size)
		}
		if size < 8000 {
			below++
		}
	}
	if below < 350 || below > 550 { // a page overshoots by up to a block, so slightly fewer than half
		t.Errorf("%d of 1001 pages below the median", below)
	}
}

func TestTrapsHaveNoEnd(t *testing.T) {
	w := New(Config{Traps: true})
	for _, entry := range trapEntries {
		seen := map[string]bool{}
		c := crawl(t, w, base0+entry, func(u *url.URL) bool {
			seen[u.String()] = true
			return IsTrap(u.RequestURI()) && len(seen) < 60
		})
		if len(seen) < 60 {
			t.Errorf("%s ended after %d pages", entry, len(seen))
		}
		for u, status := range c.status {
			if status != http.StatusOK {
				t.Errorf("%s answered %d", u, status)
			}
		}
	}
	if res := get(New(Config{}), base0+trapEntries[0]); res.Code != http.StatusNotFound {
		t.Errorf("trap without Traps: %d", res.Code)
	}
}

func TestStaticFiles(t *testing.T) {
	w := New(Config{})
	if _, err := png.Decode(get(w, base0+"/static/dot.png").Body); err != nil {
		t.Error(err)
	}
	if res := get(w, base0+"/static/site.css"); res.Code != http.StatusOK {
		t.Error(res.Code)
	}
}

// nowhere is a ResponseWriter that discards everything.
type nowhere struct{ h http.Header }

func (n nowhere) Header() http.Header         { return n.h }
func (n nowhere) Write(p []byte) (int, error) { return len(p), nil }
func (n nowhere) WriteHeader(int)             {}

func BenchmarkPage(b *testing.B) {
	w := New(Config{Seed: 1, PagesPerHost: 10_000, LogLimit: 1})
	var requests []*http.Request
	for page := range 1000 {
		requests = append(requests, httptest.NewRequest(http.MethodGet, base0+w.Path(0, page*10), nil))
	}
	size := 0
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		rw := nowhere{http.Header{}}
		w.ServeHTTP(rw, requests[i%len(requests)])
		size += int(w.site.size(0, (i%len(requests))*10))
	}
	b.SetBytes(int64(size / b.N))
}

// BenchmarkServe measures the complete path over a loopback connection, including the client.
func BenchmarkServe(b *testing.B) {
	w := New(Config{Seed: 1, PagesPerHost: 10_000, LogLimit: 1})
	s := Run(b, w)
	client := s.Client()
	for i := 0; b.Loop(); i++ {
		res, err := client.Get(s.URL(0, w.Path(0, i%10_000)))
		if err != nil {
			b.Fatal(err)
		}
		_, _ = bytes.NewBuffer(nil).ReadFrom(res.Body)
		_ = res.Body.Close()
	}
}

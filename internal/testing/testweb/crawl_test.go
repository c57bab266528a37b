package testweb

import (
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	notMarkup = regexp.MustCompile(`(?s)<!--.*?-->|<script>.*?</script>`)
	baseTag   = regexp.MustCompile(`<base href="([^"]*)"`)
	anchorTag = regexp.MustCompile(`(?is)<a\s[^<]*?href=("[^"]*"|'[^']*')`)
)

// pageLinks is a small but correct parser of the links in testweb's own HTML.
func pageLinks(t *testing.T, at *url.URL, body string) []*url.URL {
	t.Helper()
	body = notMarkup.ReplaceAllString(body, "")
	base := at
	if m := baseTag.FindStringSubmatch(body); m != nil {
		base = resolve(t, at, m[1])
	}
	var links []*url.URL
	for _, m := range anchorTag.FindAllStringSubmatch(body, -1) {
		to := resolve(t, base, strings.TrimSpace(html.UnescapeString(m[1][1:len(m[1])-1])))
		if to.Scheme == "http" {
			links = append(links, to)
		}
	}
	return links
}

func resolve(t *testing.T, base *url.URL, ref string) *url.URL {
	t.Helper()
	to, err := base.Parse(ref)
	if err != nil {
		t.Fatalf("link %q of %s: %v", ref, base, err)
	}
	to.Fragment = ""
	return to
}

// crawler is the simplest crawler that must find all of Pages.
type crawler struct {
	t      *testing.T
	h      http.Handler
	follow func(*url.URL) bool
	status map[string]int // by URL, the last one
	bodies map[string]string
	queue  []*url.URL
}

func crawl(t *testing.T, h http.Handler, start string, follow func(*url.URL) bool) *crawler {
	t.Helper()
	c := &crawler{t: t, h: h, follow: follow, status: map[string]int{}, bodies: map[string]string{}}
	at, err := url.Parse(start)
	if err != nil {
		t.Fatal(err)
	}
	c.add(at)
	for len(c.queue) > 0 {
		next := c.queue[0]
		c.queue = c.queue[1:]
		c.visit(next)
	}
	return c
}

func (c *crawler) add(u *url.URL) {
	if _, seen := c.status[u.String()]; !seen && c.follow(u) {
		c.status[u.String()] = 0
		c.queue = append(c.queue, u)
	}
}

func (c *crawler) visit(u *url.URL) {
	const tries = 4
	var res *httptest.ResponseRecorder
	for range tries {
		res = get(c.h, u.String())
		if res.Code < 500 {
			break
		}
	}
	c.status[u.String()] = res.Code
	if to := res.Header().Get("Location"); to != "" {
		c.add(resolve(c.t, u, to))
		return
	}
	if res.Code == http.StatusOK && strings.HasPrefix(res.Header().Get("Content-Type"), "text/html") {
		c.bodies[u.String()] = res.Body.String()
		for _, to := range pageLinks(c.t, u, res.Body.String()) {
			c.add(to)
		}
	}
}

// html lists the HTML pages that answered 200, without the prefix.
func (c *crawler) html(prefix string) []string {
	var found []string
	for u := range c.bodies {
		found = append(found, strings.TrimPrefix(u, prefix))
	}
	slices.Sort(found)
	return found
}

func get(h http.Handler, target string) *httptest.ResponseRecorder {
	res := httptest.NewRecorder()
	h.ServeHTTP(res, httptest.NewRequest(http.MethodGet, target, nil))
	return res
}

func sorted(paths []string) []string {
	paths = slices.Clone(paths)
	slices.Sort(paths)
	return paths
}

// sameSet fails the test with the missing and the surplus items.
func sameSet(t *testing.T, got, want []string) {
	t.Helper()
	got, want = sorted(got), sorted(want)
	for _, p := range want {
		if _, ok := slices.BinarySearch(got, p); !ok {
			t.Errorf("missing %q", p)
		}
	}
	for _, p := range got {
		if _, ok := slices.BinarySearch(want, p); !ok {
			t.Errorf("unexpected %q", p)
		}
	}
	if len(got) != len(want) {
		t.Errorf("got %d, want %d", len(got), len(want))
	}
}

package testweb

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

func TestDemoLinksResolve(t *testing.T) {
	const base = "http://127.0.0.1"
	c := crawl(t, Demo(), base+"/", func(u *url.URL) bool {
		return u.Host == "127.0.0.1" && !strings.HasPrefix(u.Path, "/private/")
	})
	sameSet(t, c.html(base), DemoPages())
	redirects, dead := 0, 0
	for u, status := range c.status {
		switch status {
		case http.StatusOK:
		case http.StatusMovedPermanently, http.StatusFound:
			redirects++
		case http.StatusNotFound:
			dead++
		default:
			t.Errorf("%s: %d", u, status)
		}
	}
	if len(DemoPages()) != 14 || redirects != 2 || dead != 1 {
		t.Errorf("%d pages, %d redirects, %d dead links", len(DemoPages()), redirects, dead)
	}
	checkFragments(t, c)
}

var (
	fragmentRef = regexp.MustCompile(`href="([^"]*)#([^"]+)"`)
	upward      = regexp.MustCompile(`(?:src|href)="([^"]*\.css)"`)
)

// checkFragments checks that each fragment and each stylesheet exists on the page that it points
// to.
func checkFragments(t *testing.T, c *crawler) {
	t.Helper()
	fragments := 0
	for u, body := range c.bodies {
		at, err := url.Parse(u)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range fragmentRef.FindAllStringSubmatch(body, -1) {
			fragments++
			if to := resolve(t, at, m[1]); !strings.Contains(c.bodies[to.String()], `id="`+m[2]+`"`) {
				t.Errorf("%s: no #%s at %s", u, m[2], to)
			}
		}
		for _, m := range upward.FindAllStringSubmatch(body, -1) {
			if res := get(c.h, resolve(t, at, m[1]).String()); res.Code != http.StatusOK {
				t.Errorf("%s: stylesheet %s: %d", u, m[1], res.Code)
			}
		}
	}
	if fragments == 0 {
		t.Error("no fragment links")
	}
}

func TestDemoForbiddenAndMissing(t *testing.T) {
	for path, want := range map[string]int{
		"/private/logbook.html": 200, "/robots.txt": 200, "/private/": 404, "/nope": 404, "/rivers": 301, "/../go.mod": 404,
	} {
		if res := get(Demo(), "http://127.0.0.1"+path); res.Code != want {
			t.Errorf("%s: %d, want %d", path, res.Code, want)
		}
	}
	if body := get(Demo(), "http://127.0.0.1/robots.txt").Body.String(); !strings.Contains(body, "Disallow: /private/") {
		t.Errorf("robots.txt: %q", body)
	}
}

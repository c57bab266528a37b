package pages

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"seine/internal/testing/await"
	"seine/pkg/messages"
)

// Twelve failures among 100,000 URLs are found in three steps, by class, host and URL, on pages
// that stay short. The other URLs are queued at a paused host.
func TestTwelveFailuresAreFoundAmong100000URLs(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	var failing []string
	for range 2 {
		web, seed := site(t, 1)
		for i := range 6 {
			path := fmt.Sprintf("/broken/%d", i)
			web.Handle(0, path, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader([]int{http.StatusNotFound, http.StatusForbidden}[i%2])
			})
			failing = append(failing, seed+path)
		}
	}
	c.crawl("big", "delay: 0s\nmax_attempts: 1\nscope: any\nsources: [{hosts: [paused.example], state: paused}]\n", failing...)
	for from := 0; from < 100_000-len(failing); from += 4999 {
		var some strings.Builder
		for i := from; i < min(from+4999, 100_000-len(failing)); i++ {
			fmt.Fprintf(&some, "https://paused.example/%d\n", i)
		}
		if _, err := c.bus.JS.Publish(t.Context(), messages.SubjectSeeds("big"), []byte(some.String())); err != nil {
			t.Fatal(err)
		}
	}
	await.Eventually(t, "know all URLs, of which 12 have failed", func() bool {
		o := c.overview()
		return len(o.Crawls) == 1 && o.Crawls[0].Known() == 100_000 && o.Crawls[0].Failed == 12
	})

	tab := c.tab()
	tab.Go(c.url + "/errors")
	follow := func(text string) {
		link := fmt.Sprintf(`[...document.querySelectorAll("main a")].find(a => a.textContent.startsWith(%q))`, text)
		tab.Holds(link)
		tab.Eval(link+".click()", nil)
	}
	host := strings.TrimPrefix(failing[0], "http://")
	host = host[:strings.Index(host, "/")]
	follow("gone")
	tab.Shows("6 of 6 failed URLs that were looked at")
	follow(host)
	tab.Shows("3 of 6 failed URLs that were looked at")
	follow(failing[0])
	tab.Shows("404")

	var found []string
	for _, class := range c.links("/errors?crawl=big", `class=(\w+)&amp;crawl=big"`) {
		for _, host := range c.links("/errors?crawl=big&class="+class, `host=([\w.%]+)"`) {
			found = append(found, c.links("/errors?crawl=big&class="+class+"&host="+host, `class="url"[^>]*>(http[^<]*)</a>`)...)
		}
	}
	slices.Sort(failing)
	if slices.Sort(found); !slices.Equal(slices.Compact(found), failing) {
		t.Errorf("the pages lead to %q, want %q", found, failing)
	}
}

// links returns the unique matches of a pattern on a page, which must be short.
func (c *fixture) links(path, pattern string) (all []string) {
	c.t.Helper()
	_, text := c.get(path)
	if len(text) > 100_000 {
		c.t.Errorf("%s has %d bytes", path, len(text))
	}
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		if !slices.Contains(all, m[1]) {
			all = append(all, m[1])
		}
	}
	return all
}

package testweb

import (
	"net/http"
	"testing"
	"time"

	"seine/internal/base/weburl"
	"seine/internal/page/htmlpage"
	"seine/internal/schedule/traps"
)

// guarded crawls one host as the frontier does, with all trap guards and nothing else.
type guarded struct {
	t      *testing.T
	web    *Web
	limits traps.Limits
	now    time.Time
	seen   map[string]bool
	twins  map[string]bool
	shapes *traps.PatternCounter
	rules  *weburl.Normalizer
	queue  []string
	kept   map[traps.Reason]int
	asked  int
}

func crawlGuarded(t *testing.T, web *Web, limits traps.Limits) *guarded {
	t.Helper()
	c := &guarded{
		t: t, web: web, limits: limits, now: time.Date(2026, time.November, 21, 0, 0, 0, 0, time.UTC),
		seen: map[string]bool{}, twins: map[string]bool{}, shapes: traps.NewPatternCounter(), kept: map[traps.Reason]int{},
		rules: weburl.NewNormalizer(weburl.NormalizeOptions{DropTracking: true, DropSessions: true}),
	}
	c.queue = append(c.queue, base0+"/")
	c.seen[base0+"/"] = true
	for len(c.queue) > 0 {
		next := c.queue[0]
		c.queue = c.queue[1:]
		if r := c.shapes.Exhausted(next, &limits); r != "" {
			c.kept[r]++
			continue
		}
		if c.asked++; c.asked > 20_000 {
			t.Fatalf("no end: %v", c.kept)
		}
		c.visit(next)
	}
	return c
}

func (g *guarded) visit(url string) {
	res := get(g.web, url)
	if res.Code != http.StatusOK {
		g.t.Errorf("%s answered %d", url, res.Code)
		return
	}
	page, err := htmlpage.Scan(res.Body.Bytes(), url, res.Header().Get("Content-Type"), htmlpage.Options{})
	if err != nil {
		g.t.Fatal(err)
	}
	g.shapes.Fetched(url, page.Content)
	for _, l := range page.Links {
		g.add(g.rules.Normalize(l.URL))
	}
}

func (g *guarded) add(url string) {
	if g.seen[url] {
		return
	}
	g.seen[url] = true
	reason := traps.Check(url, &g.limits, g.now)
	twin, ordered := traps.SortQuery(url)
	if reason == "" && ordered && g.twins[twin] {
		reason = traps.ParameterOrder
	}
	if reason == "" {
		reason = g.shapes.Admit(url, &g.limits)
	}
	if reason != "" {
		g.kept[reason]++
		return
	}
	if ordered {
		g.twins[twin] = true
	}
	g.queue = append(g.queue, url)
}

// TestEndlessSitesEnd shows that a crawl of each endless site ends with the default guards.
func TestEndlessSitesEnd(t *testing.T) {
	if withRace {
		t.Skip("runs without the race detector")
	}
	limits := traps.Limits{ // crawlspec.DefaultTraps
		MaxURLLength: 1024, MaxPathDepth: 20, MaxRepeats: 3, CalendarAhead: 2, CalendarBack: 50,
		MaxParameterSets: 100, MaxSameShape: 1_000_000, SameContentAfter: 300,
	}
	for kind, want := range map[SiteKind][]traps.Reason{
		SiteCalendar:      {traps.Calendar, traps.SameContent},
		SiteSessions:      {traps.SameContent},
		SiteKnownSessions: nil,
		SiteSoft404:       {traps.SameContent},
		SiteRepeater:      {traps.Repeats},
		SiteFacets:        {traps.ParameterOrder, traps.ParameterSets},
	} {
		t.Run(string(kind), func(t *testing.T) {
			for seed := range uint64(5) {
				web := New(Config{Site: kind, Seed: seed})
				c := crawlGuarded(t, web, limits)
				missing, wasted := web.Unfetched(0)
				t.Logf("seed %d: asked %d times, %d for nothing; %v", seed, c.asked, wasted, c.kept)
				if len(missing) > 0 {
					t.Errorf("seed %d: missing %q", seed, missing)
				}
				if wasted > 1500 || kind == SiteKnownSessions && wasted > 0 {
					t.Errorf("seed %d: %d answers for nothing", seed, wasted)
				}
				for _, r := range want {
					if c.kept[r] == 0 {
						t.Errorf("seed %d: nothing kept out by %s", seed, r)
					}
				}
				if len(c.kept) != len(want) {
					t.Errorf("seed %d: kept out %v", seed, c.kept)
				}
			}
		})
	}
}

// TestSoundSiteIsLeftAlone shows that no guard stops anything on an ordinary site.
func TestSoundSiteIsLeftAlone(t *testing.T) {
	if withRace {
		t.Skip("runs without the race detector")
	}
	web := New(Config{PagesPerHost: 3000, RobotsTxt: RobotsMissing, PageBytes: 2000})
	c := crawlGuarded(t, web, traps.Limits{
		MaxURLLength: 1024, MaxPathDepth: 20, MaxRepeats: 3, CalendarAhead: 2, CalendarBack: 50,
		MaxParameterSets: 100, MaxSameShape: 1_000_000, SameContentAfter: 300,
	})
	if len(c.kept) > 0 {
		t.Errorf("kept out %v", c.kept)
	}
	for _, path := range web.Pages(0) {
		if web.Count(0, path) != 1 {
			t.Errorf("%s asked for %d times", path, web.Count(0, path))
		}
	}
}

// TestEndlessSitesHaveNoEnd shows that a crawl without guards does not end.
func TestEndlessSitesHaveNoEnd(t *testing.T) {
	if withRace {
		t.Skip("runs without the race detector")
	}
	for _, kind := range SiteKinds()[1:] {
		web := New(Config{Site: kind, PagesPerHost: 20})
		seen := map[string]bool{}
		queue := []string{base0 + "/"}
		for len(queue) > 0 && len(seen) < 3000 {
			res := get(web, queue[0])
			page, err := htmlpage.Scan(res.Body.Bytes(), queue[0], "", htmlpage.Options{})
			if err != nil || res.Code != http.StatusOK {
				t.Fatalf("%s: %d, %v", queue[0], res.Code, err)
			}
			queue = queue[1:]
			for _, l := range page.Links {
				if !seen[l.URL] {
					seen[l.URL] = true
					queue = append(queue, l.URL)
				}
			}
		}
		if len(queue) == 0 {
			t.Errorf("%s ended after %d pages", kind, len(seen))
		}
	}
}

func TestEndlessSiteIsTheSameAgain(t *testing.T) {
	for _, kind := range SiteKinds()[1:] {
		a, b := New(Config{Site: kind, Hosts: 2}), New(Config{Site: kind, Hosts: 2})
		paths := append(a.Pages(1), "/robots.txt", "/calendar/2026/06", "/calendar/2026/06/15", "/list?size=small&color=red", "/x/y")
		if len(a.Pages(1)) != DefaultPagesPerHost {
			t.Errorf("%s has %d pages", kind, len(a.Pages(1)))
		}
		for i, path := range paths {
			url := "http://h1.localhost:8080" + path
			got, again := get(a, url), get(b, url)
			if got.Code != again.Code || got.Body.String() != again.Body.String() {
				t.Errorf("%s: %s differs", kind, path)
			}
			if n, ok := a.PageAt(1, path); ok != (i < DefaultPagesPerHost) || ok && n != i {
				t.Errorf("%s: %s shows %d, %v", kind, path, n, ok)
			}
		}
		for path, want := range map[string]int{
			"/calendar/2026/13": 404, "/calendar/2026/06/32": 404, "/calendar/x/y": 404, "/calendar/2026": 404, "/list/x": 404,
		} {
			if got := get(a, base0+path).Code; kind != SiteSoft404 && got != want {
				t.Errorf("%s: %s answered %d", kind, path, got)
			}
		}
	}
}

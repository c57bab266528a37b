package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"seine/internal/serve"
	"seine/internal/serve/api"
	"seine/internal/serve/caller"
	"seine/internal/serve/tokens"
	"seine/internal/testing/await"
)

// mapPart is one response with a part of a map.
type mapPart struct {
	URLs     []struct{ URL, Source, State string }
	Problems []string
	Next     string
}

// mapAll requests a map in parts and returns each URL's source and state.
func (s *server) mapAll(body string) map[string]string {
	s.t.Helper()
	all := make(map[string]string)
	for cursor := ""; ; {
		var m mapPart
		s.want(200, &m, "POST", "/map", fmt.Sprintf(body, cursor))
		for _, u := range m.URLs {
			if all[u.URL] != "" {
				s.t.Errorf("%s is told twice", u.URL)
			}
			all[u.URL] = strings.TrimSpace(u.Source + " " + u.State)
		}
		if cursor = m.Next; cursor == "" {
			return all
		}
	}
}

// A map with a crawl merges the URLs from the site and from the frontier, each once, whatever the
// size of a part.
func TestMapHasWhatACrawlKnows(t *testing.T) {
	t.Parallel()
	s, seed, _ := crawled(t)
	const fed = 700 // more than one answer of a frontier holds
	var seeds strings.Builder
	for i := range fed {
		fmt.Fprintf(&seeds, "%s/p/%d\n", seed, i)
	}
	s.want(200, nil, "POST", "/crawls/shop/seeds", seeds.String(), "Content-Type", "text/plain")
	s.awaitPages("shop", 10+fed)
	for _, limit := range []int{50_000, 250} {
		all := s.mapAll(fmt.Sprintf(`{"url": %q, "crawl": "shop", "limit": %d, "cursor": "%%s"}`, seed+"/", limit))
		for path, want := range map[string]string{
			"/": "start done", "/9": "link done", "/hidden": "sitemap", "/broken": "link failed", "/private/x": "frontier excluded", "/p/0": "frontier done", fmt.Sprintf("/p/%d", fed-1): "frontier done",
		} {
			if all[seed+path] != want {
				t.Errorf("%d at a time: %s is %q, want %q", limit, path, all[seed+path], want)
			}
		}
		if want := fed + 13; len(all) != want { // with /, /1 … /9, /broken, /private/x, /hidden
			t.Errorf("%d at a time: %d URLs, want %d", limit, len(all), want)
		}
	}
	for _, c := range []badRequest{
		{"", "/map", `{"url": "` + seed + `", "crawl": "shop", "cursor": "zz"}`, 422, "use next of the previous page", nil},
		{"", "/map", `{"url": "` + seed + `", "crawl": "shop", "cursor": "00ff"}`, 422, "use next of the previous page", nil},
		{"", "/map", `{"url": "` + seed + `", "cursor": "` + strings.Repeat("0", 32) + `"}`, 422, "give crawl", nil},
		{"", "/map", `{"url": "` + seed + `", "crawl": "nobody"}`, 404, "no crawl nobody", nil},
		{"", "/map", `{"url": "nonsense", "crawl": "shop"}`, 422, "http", nil},
	} {
		a := s.do("POST", c.path, c.body)
		if detail := s.problemOf(a); a.status != c.status || !strings.Contains(detail, c.advice) {
			t.Errorf("%s: %v, want %d and %q", c.body, a, c.status, c.advice)
		}
	}
}

// For a host that the crawl does not know, the map has the site's URLs; for a host that is down,
// the crawl's.
func TestMapOfAHostThatOnlyOneKnows(t *testing.T) {
	t.Parallel()
	s, _, _ := crawled(t)
	other := site(t)
	all := s.mapAll(`{"url": "` + other + `/", "crawl": "shop", "cursor": "%s"}`)
	if len(all) != 12 || all[other+"/"] != "start" || all[other+"/hidden"] != "sitemap" {
		t.Errorf("of a host that no crawl knows: %v", all)
	}
	// A server that answers nothing keeps its port, which another test could get otherwise.
	gone := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	t.Cleanup(gone.Close)
	s.want(200, nil, "POST", "/crawls/shop/seeds", gone.URL+"/a", "Content-Type", "text/plain")
	var m mapPart
	await.Eventually(t, "the frontier knows the URL", func() bool {
		m = mapPart{}
		a := s.do("POST", "/map", `{"url": "`+gone.URL+`/", "crawl": "shop"}`)
		return a.status == http.StatusOK && json.Unmarshal(a.text, &m) == nil && len(m.URLs) > 0
	})
	if len(m.URLs) != 1 || m.URLs[0].URL != gone.URL+"/a" || m.URLs[0].Source != "frontier" || len(m.Problems) != 1 || !strings.Contains(m.Problems[0], gone.URL) {
		t.Errorf("of a host that is away: %+v", m)
	}
}

// The URLs that a crawl knows need the read scope.
func TestMapOfACrawlNeedsRead(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "tokens.json")
	secret, err := tokens.Create(file, "single", []caller.Scope{caller.Scrape}, 0)
	if err != nil {
		t.Fatal(err)
	}
	store, err := tokens.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	s := newServer(t, filepath.Join(t.TempDir(), "data"), func(o *serve.Options, _ *api.Options) { o.Tokens = store })
	a := s.do("POST", "/map", `{"url": "http://a.test/", "crawl": "shop"}`, "Authorization", "Bearer "+secret)
	if a.status != http.StatusForbidden || !strings.Contains(s.problemOf(a), "scope read") {
		t.Errorf("%v", a)
	}
}

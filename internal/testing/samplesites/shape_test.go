package samplesites

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

const base = "http://127.0.0.1:8080"

// ask requests a URL of the site, with the API's required parameters.
func ask(s *SampleSite, target string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, target, nil)
	r.Header.Set("X-Api-Key", SportsKey)
	if strings.HasPrefix(r.URL.Path, "/api/") {
		q := r.URL.Query()
		q.Set("locale", "en")
		r.URL.RawQuery = q.Encode()
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

func shape(t *testing.T, name string) *SampleSite {
	t.Helper()
	s, err := New(name, 1)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// walk follows all links from the seeds and returns the bodies by path and query.
func walk(t *testing.T, s *SampleSite) map[string]string {
	t.Helper()
	bodies, queue := map[string]string{}, slices.Clone(s.Seeds)
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		if _, done := bodies[at]; done {
			continue
		}
		w := ask(s, base+at)
		if w.Code != http.StatusOK {
			t.Errorf("%s: %d", at, w.Code)
		}
		if bodies[at] = w.Body.String(); strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
			queue = append(queue, links(t, at, bodies[at])...)
		}
	}
	return bodies
}

// links returns the links of a page's a and link elements that stay on the host.
func links(t *testing.T, at, body string) (all []string) {
	t.Helper()
	from, err := url.Parse(base + at)
	if err != nil {
		t.Fatal(err)
	}
	for z := html.NewTokenizer(strings.NewReader(body)); z.Next() != html.ErrorToken; {
		tag := z.Token()
		if tag.Type != html.StartTagToken && tag.Type != html.SelfClosingTagToken || tag.Data != "a" && tag.Data != "link" {
			continue
		}
		for _, a := range tag.Attr {
			if to, err := from.Parse(a.Val); a.Key == "href" && (err != nil || to.Scheme == "http" && to.Host == from.Host) {
				if err != nil {
					t.Errorf("%s: %v", at, err)
					continue
				}
				if strings.HasPrefix(to.Path, "/_next/") {
					continue // a script to preload
				}
				all = append(all, to.RequestURI())
			}
		}
	}
	return all
}

func TestLinksResolve(t *testing.T) {
	for name, least := range map[string]int{"sports": 3, "opportunities": 86 + 8, "news": 42, "shop": 54, "docs": 19} {
		t.Run(name, func(t *testing.T) {
			if n := len(walk(t, shape(t, name))); n < least || n > 400 {
				t.Errorf("%d pages are linked, want %d to 400", n, least)
			}
		})
	}
}

// Every text of a record must be on its page, and every page with a record must be there.
func TestTruthIsOnThePages(t *testing.T) {
	for name, count := range map[string]int{"sports": 6 + 2*25, "opportunities": 86, "news": 42, "shop": 52, "docs": 19 + 2*15 + 4 + 4*15} {
		t.Run(name, func(t *testing.T) {
			s := shape(t, name)
			truth := s.Truth(base + "/")
			if len(truth.Records) != count {
				t.Errorf("%d records, want %d", len(truth.Records), count)
			}
			seen := map[string]bool{}
			for _, r := range truth.Records {
				key := fmt.Sprint(r["kind"], r["key"], r["url"], r["anchor"], r["language"])
				if seen[key] {
					t.Errorf("%s is there twice", key)
				}
				seen[key] = true
				checkRecord(t, s, r)
			}
			for _, u := range truth.Refused {
				if w := ask(s, u); w.Code != http.StatusOK {
					t.Errorf("%s: %d", u, w.Code)
				}
			}
		})
	}
}

func checkRecord(t *testing.T, s *SampleSite, r Record) {
	t.Helper()
	u := r["url"].(string)
	w := ask(s, u)
	if w.Code == http.StatusServiceUnavailable {
		w = ask(s, u)
	}
	body := html.UnescapeString(w.Body.String())
	if w.Code != http.StatusOK {
		t.Fatalf("%s: %d", u, w.Code)
	}
	for _, field := range []string{"name", "title", "headline", "lead", "author", "agency", "description", "brand", "number", "id", "team", "heading"} {
		if text, ok := r[field].(string); ok && !strings.Contains(body, text) {
			t.Errorf("%s: %s %q is not on the page", u, field, text)
		}
	}
	if code, ok := r["code"].(string); ok && !strings.Contains(stripped(body), code) {
		t.Errorf("%s: the listing %q is not on the page", u, code)
	}
	if _, err := json.Marshal(r); err != nil {
		t.Errorf("%s: %v", u, err)
	}
}

// stripped returns a page without the elements of the syntax highlighter.
func stripped(body string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(strings.ReplaceAll(body, "</span>", ""), "<span") {
		if _, rest, ok := strings.Cut(part, ">"); ok && b.Len() > 0 {
			part = rest
		}
		b.WriteString(part)
	}
	return b.String()
}

func TestSameSeedSameBytes(t *testing.T) {
	for _, name := range Names() {
		one, two := walk(t, shape(t, name)), walk(t, shape(t, name))
		if len(one) == 0 || !equal(one, two) {
			t.Errorf("%s differs from itself", name)
		}
		other, err := New(name, 2)
		if err != nil {
			t.Fatal(err)
		}
		if equal(one, walk(t, other)) {
			t.Errorf("%s is the same for every seed", name)
		}
	}
}

func equal(a, b map[string]string) bool {
	for k, v := range a {
		if b[k] != v {
			return false
		}
	}
	return len(a) == len(b)
}

func TestUnknownShape(t *testing.T) {
	if _, err := New("bank", 1); err == nil || !strings.Contains(err.Error(), "shop") {
		t.Errorf("error %v", err)
	}
}

func TestHostOfTheRequestIsNoMarkup(t *testing.T) {
	r := httptest.NewRequest(http.MethodGet, "/sitemap.xml", nil)
	r.Host = `x"><script>`
	w := httptest.NewRecorder()
	shape(t, "news").ServeHTTP(w, r)
	if strings.Contains(w.Body.String(), "<script>") || !strings.Contains(w.Body.String(), "<loc>http://localhost/") {
		t.Errorf("body %s", w.Body)
	}
}

func TestListsEndAsRealOnesDo(t *testing.T) {
	if w := ask(shape(t, "shop"), base+"/c/lampen?page=4"); w.Code != http.StatusNotFound {
		t.Errorf("shop: %d", w.Code)
	}
	s := shape(t, "opportunities")
	for page, rows := range map[string]int{"": 10, "?page=2": 3, "?page=3": 0, "?page=99999": 0, "?page=x": 10} {
		w := ask(s, base+"/opportunities/alabama"+page)
		if n := strings.Count(w.Body.String(), `row"><td>`); w.Code != http.StatusOK || n != rows {
			t.Errorf("alabama%s: %d with %d rows, want %d", page, w.Code, n, rows)
		}
	}
}

// Articles without a link to them are in the feed or in the sitemap.
func TestHiddenArticlesAreListed(t *testing.T) {
	s := shape(t, "news")
	linked := walk(t, s)
	feed, sitemap := ask(s, base+"/feed.xml").Body.String(), ask(s, base+"/sitemap.xml").Body.String()
	var fed, listed int
	for _, r := range s.Truth(base).Records {
		u := r["url"].(string)
		if _, ok := linked[strings.TrimPrefix(u, base)]; ok {
			continue
		}
		if in := strings.Contains(feed, ">"+u+"<"); in {
			fed++
		} else if strings.Contains(sitemap, "<loc>"+u+"<") {
			listed++
		} else {
			t.Errorf("%s is nowhere", u)
		}
	}
	if fed != 3 || listed != 3 {
		t.Errorf("%d only in the feed, %d only in the sitemap", fed, listed)
	}
	if n := len(s.Main()); n != 42 {
		t.Errorf("%d articles with paragraphs", n)
	}
}

func TestAPIWantsItsDues(t *testing.T) {
	s := shape(t, "sports")
	busy := "/api/v2/games/0022500020/boxscore"
	for _, c := range []struct {
		path, key string
		want      int
		wait      string
	}{
		{busy + "?locale=en", "", 401, ""}, {busy + "?locale=en", "wrong", 401, ""}, {busy, SportsKey, 400, ""},
		{busy + "?locale=en", SportsKey, 503, SportsWait}, {busy + "?locale=en", SportsKey, 200, ""},
		{"/api/v2/games/0022500001/boxscore?locale=en", SportsKey, 200, ""}, {"/api/v2/games/1/plays?locale=en", SportsKey, 404, ""},
	} {
		r := httptest.NewRequest(http.MethodGet, base+c.path, nil)
		r.Header.Set("X-Api-Key", c.key)
		w := httptest.NewRecorder()
		if s.ServeHTTP(w, r); w.Code != c.want || w.Header().Get("Retry-After") != c.wait {
			t.Errorf("%s with %q: %d, Retry-After %q", c.path, c.key, w.Code, w.Header().Get("Retry-After"))
		}
	}
}

// Every team plays once a week, and every pair of teams meets twice.
func TestSeasonIsWhole(t *testing.T) {
	games := sportsGames(newProse(1, "sports"), sportsTable(newProse(1, "sports")))
	met, played := map[string]int{}, map[string]int{}
	for _, g := range games {
		met[g.Home+g.Away]++
		played[fmt.Sprint(g.Week, g.Home)]++
		played[fmt.Sprint(g.Week, g.Away)]++
		points := 0
		for _, side := range g.players {
			for _, p := range side {
				points += p.Points
			}
		}
		if points != g.scores[0]+g.scores[1] {
			t.Errorf("%s: players have %d points, teams %v", g.ID, points, g.scores)
		}
	}
	if len(games) != 30 || len(met) != 30 || len(played) != 60 {
		t.Errorf("%d games, %d pairs, %d places", len(games), len(met), len(played))
	}
}

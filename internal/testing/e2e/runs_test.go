package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"sync"
	"testing"

	"seine/internal/run/crawl"
	"seine/pkg/messages"
)

// shop has an index that never changes, a linked page whose price changes, and one that is removed.
// It answers conditional requests.
type shop struct {
	mu      sync.Mutex
	later   bool
	answers map[string][]int // statuses by path
}

// newShop serves a shop until the test ends, and returns the URL of its index.
func newShop(t *testing.T) (s *shop, seed string) {
	t.Helper()
	s = &shop{answers: make(map[string][]int)}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return s, server.URL + "/"
}

func (s *shop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	body, ok := map[string]string{
		"/":     `<a href="/list">list</a>`,
		"/list": `<a href="/price">price</a> <a href="/old">old</a>`,
		"/old":  "an old page", "/price": "it costs 10",
	}[r.URL.Path]
	if s.later && r.URL.Path == "/price" {
		body = "it costs 12"
	}
	status := http.StatusOK
	tag := fmt.Sprintf("%q", body)
	switch {
	case !ok, s.later && r.URL.Path == "/old":
		status = http.StatusNotFound
	case r.Header.Get("If-None-Match") == tag:
		status = http.StatusNotModified
	}
	s.answers[r.URL.Path] = append(s.answers[r.URL.Path], status)
	w.Header().Set("Content-Type", "text/html")
	w.Header().Set("ETag", tag)
	w.WriteHeader(status)
	if status == http.StatusOK {
		_, _ = fmt.Fprint(w, body)
	}
}

// had returns how often a path got a status.
func (s *shop) had(path string, status int) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, st := range s.answers[path] {
		if st == status {
			n++
		}
	}
	return n
}

// A scheduled crawl detects a changed price and a removed page although the pages that link to them
// are unchanged, and fetches those once.
func TestRunFindsWhatChangedBehindAnUnchangedPage(t *testing.T) {
	t.Parallel()
	web, seed := newShop(t)
	p := newWorkspace(t)
	again := func() *command {
		return p.crawl(seed, "--spec", file(t, "spec.yaml", "schedule: \"@every 2s\"\n"))
	}
	c := again()
	eventually(t, patience, "find the list unchanged twice", func() (bool, string) {
		return web.had("/list", http.StatusNotModified) >= 2 && web.had("/price", http.StatusNotModified) >= 2, c.said()
	})
	web.mu.Lock()
	web.later = true
	web.mu.Unlock()
	eventually(t, patience, "ask for the changed price and the page that is gone", func() (bool, string) {
		return web.had("/price", http.StatusOK) >= 2 && web.had("/old", http.StatusNotFound) >= 1, c.said()
	})
	c.signal(os.Interrupt)
	c.expect(4)
	for _, path := range []string{"/", "/list"} {
		if n := web.had(path, http.StatusOK); n != 1 {
			t.Errorf("%s was sent %d times, want once", path, n)
		}
	}
	// An interrupted crawl leaves unwritten records to the next run.
	for tries := 0; !slices.ContainsFunc(records(t, p.out, "default"), func(r messages.Record) bool { return r.Text == "it costs 12" }); tries++ {
		if tries == 10 {
			t.Fatal("no record has the new price")
		}
		unchanged := web.had("/price", http.StatusNotModified)
		c = again()
		eventually(t, patience, "write the new price", func() (bool, string) {
			return web.had("/price", http.StatusNotModified) > unchanged, c.said()
		})
		c.signal(os.Interrupt)
		c.expect(4)
	}
}

// Repeating the command on a complete crawl fetches nothing. It says since when the crawl is
// complete and how to continue; --again visits all pages again.
func TestCompleteCrawlIsVisitedAgainWhenAsked(t *testing.T) {
	t.Parallel()
	web, seed := newShop(t)
	p := newWorkspace(t)
	paths := []string{"/", "/list", "/price", "/old"}
	asked := func(path string) int {
		web.mu.Lock()
		defer web.mu.Unlock()
		return len(web.answers[path])
	}
	c := p.crawl(seed)
	c.expect(0)
	if s := c.summary(); !s.CompleteSince.IsZero() || s.Pages != 4 {
		t.Errorf("complete since %v with %d pages, want a crawl that has just fetched 4", s.CompleteSince, s.Pages)
	}
	c = p.crawl(seed)
	c.expect(0)
	if s := c.summary(); s.CompleteSince.IsZero() || s.Outcome != crawl.OutcomeComplete {
		t.Errorf("%s since %v, want complete since the first run", s.Outcome, s.CompleteSince)
	}
	wantOutput(t, runSeine(t, "crawl", seed, "--data", p.data, "--out", p.out, "--allow-private"), "complete on 20", "nothing was fetched", "--again", "seine replay")
	for _, path := range paths {
		if n := asked(path); n != 1 {
			t.Errorf("%s was asked for %d times, want once", path, n)
		}
	}
	web.mu.Lock()
	web.later = true
	web.mu.Unlock()
	p.crawl("--again").expect(0)
	for path, status := range map[string]int{"/": 304, "/list": 304, "/price": 200, "/old": 404} {
		if n := asked(path); n != 2 || web.had(path, status) == 0 {
			t.Errorf("%s was asked for %d times, and answered with %d %d times; want twice, the second with that", path, n, status, web.had(path, status))
		}
	}
	wantRecordOf(t, p, "it costs 12")
	p.crawl(seed, "--again").expect(0)
	if n := asked("/price"); n != 3 || web.had("/price", http.StatusNotModified) != 1 {
		t.Errorf("the price was asked for %d times, want once more, and not be sent", n)
	}
}

func wantRecordOf(t *testing.T, p workspace, text string) {
	t.Helper()
	if !slices.ContainsFunc(records(t, p.out, "default"), func(r messages.Record) bool { return r.Text == text }) {
		t.Errorf("no record says %q", text)
	}
}

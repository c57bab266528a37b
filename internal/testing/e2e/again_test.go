package e2e

import (
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

// wantAsked checks the number of requests for each page of the shop.
func (s *shop) wantAsked(t *testing.T, n int) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, path := range []string{"/", "/list", "/price", "/old"} {
		if len(s.answers[path]) != n {
			t.Errorf("%s was asked for %d times, want %d", path, len(s.answers[path]), n)
		}
	}
}

// A new crawl has nothing to visit again: --again has no effect on it, so one command serves the
// first and all later runs of a schedule.
func TestAgainWithNewDataIsTheFirstVisit(t *testing.T) {
	t.Parallel()
	web, seed := newShop(t)
	p := newWorkspace(t)
	for n := range 2 {
		c := p.crawl(seed, "--again")
		c.expect(0)
		web.wantAsked(t, n+1)
		if !strings.Contains(c.stdout.String(), `"excluded":{}`) {
			t.Errorf("where nothing is excluded the summary says so otherwise: %s", c.stdout)
		}
		if c.stderr.String() != "" {
			t.Errorf("run %d says: %s", n, c.stderr)
		}
	}
	none := newWorkspace(t).crawl("--again")
	none.expect(2)
	none.complains("no URL to start from")
}

// --again does not restart a cancelled crawl. The command says how to undo the cancellation.
func TestAgainOfACancelledCrawlSaysSo(t *testing.T) {
	t.Parallel()
	web, seed := newShop(t)
	p := newWorkspace(t)
	p.crawl(seed).expect(0)
	seine(t, "", "cancel", "--crawl", "default", "--data", p.data).expect(0)
	c := p.crawl("--again")
	c.expect(5)
	c.complains("no page is visited again", "it is cancelled: seine resume undoes that")
	web.wantAsked(t, 1)
	seine(t, "", "resume", "--crawl", "default", "--data", p.data).expect(0)
	p.crawl("--again").expect(0)
	web.wantAsked(t, 2)
}

// Passing the same spec file again does not undo the visits that --again requested, and requests no
// more.
func TestSpecGivenOnceMoreKeepsWhatAgainAskedFor(t *testing.T) {
	t.Parallel()
	web, seed := newShop(t)
	p := newWorkspace(t)
	p.crawl(seed).expect(0)
	p.crawl("--again").expect(0)
	marker := func() string {
		t.Helper()
		c := seine(t, "", "spec", "get", "--crawl", "default", "--data", p.data)
		c.expect(0)
		return strings.TrimSpace(regexp.MustCompile(`(?m)^.*\bagain\b.*$`).FindString(c.stdout.String()))
	}
	was := marker()
	if was == "" {
		t.Fatal("the spec has no again")
	}
	for _, text := range []string{"max_depth: 9\n", "again: 1\n"} {
		p.crawl("--spec", file(t, "spec.yaml", text)).expect(0)
		if got := marker(); got != was {
			t.Errorf("after a spec of %q it has %q, want %q", text, got, was)
		}
	}
	web.wantAsked(t, 2)
}

// If the spec drops unchanged pages, the second visit to a site without ETags writes only changed
// and new pages. A replay produces the records of all pages.
func TestOnlyChangedPagesMakeRecordsIfTheSpecDropsTheRest(t *testing.T) {
	t.Parallel()
	var later atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch {
		case r.URL.Path == "/":
			_, _ = io.WriteString(w, "<a href=/list>list</a>")
		case r.URL.Path == "/list":
			_, _ = io.WriteString(w, "<a href=/price>price</a>")
		case r.URL.Path == "/price" && later.Load():
			_, _ = io.WriteString(w, "it costs 12 <a href=/new>new</a>")
		case r.URL.Path == "/price":
			_, _ = io.WriteString(w, "it costs 10")
		case r.URL.Path == "/new" && later.Load():
			_, _ = io.WriteString(w, "new")
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	defer server.Close()
	p := newWorkspace(t)
	spec := file(t, "spec.yaml", "duplicates: {unchanged: drop}\n")
	p.crawl(server.URL+"/", "--spec", spec).expect(0)
	later.Store(true)
	p.crawl("--again").expect(0)
	want := []string{"/", "/list", "/new", "/price", "/price"}
	paths := func(out, writer string) (all []string) {
		for _, r := range recordsBy(t, writer, out, "default") {
			if r.ContentType == "" { // a visit without records
				continue
			}
			all = append(all, strings.TrimPrefix(r.URL, server.URL))
		}
		slices.Sort(all)
		return all
	}
	if got := paths(p.out, "default"); !slices.Equal(got, want) {
		t.Errorf("records of %q, want %q", got, want)
	}
	again := filepath.Join(t.TempDir(), "again")
	seine(t, "", "replay", "parse", "--data", p.data, "--out", again, "--quiet").expect(0)
	want = []string{"/", "/", "/list", "/list", "/new", "/price", "/price"}
	if got := paths(again, "replay"); !slices.Equal(got, want) {
		t.Errorf("the replay has made records of %q, want %q", got, want)
	}
}

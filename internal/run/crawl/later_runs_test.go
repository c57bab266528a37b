package crawl

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// laterRuns runs the command repeatedly in one directory.
type laterRuns struct {
	t   *testing.T
	dir string
	log bytes.Buffer // of the last run
}

// run runs the crawl once, with a spec and options from change. It returns the summary and its
// text.
func (l *laterRuns) run(change func(o *Options, spec *crawlspec.Spec), seeds ...string) (*Summary, string) {
	l.t.Helper()
	o := DefaultOptions("c", filepath.Join(l.dir, "data"))
	o.Listen, o.Writer.Out = "127.0.0.1:0", filepath.Join(l.dir, "out")
	o.Chain = true
	l.log.Reset()
	o.Log = slog.New(slog.NewTextHandler(&l.log, &slog.HandlerOptions{Level: slog.LevelWarn}))
	for _, url := range seeds {
		o.Seeds = append(o.Seeds, messages.Seed{URL: url})
	}
	change(&o, new(crawlspec.Spec))
	o.Spec = func(have crawlspec.Spec) (*crawlspec.Spec, error) {
		have.Delay, have.AllowPrivate, have.MaxAttempts = 0, true, 1
		change(new(Options), &have)
		return &have, nil
	}
	s, err := Run(l.t.Context(), o)
	if err != nil {
		l.t.Fatalf("%v\n%s", err, l.log.String())
	}
	var text bytes.Buffer
	s.Write(&text)
	return s, text.String()
}

func (l *laterRuns) wants(text string, has ...string) {
	l.t.Helper()
	for _, want := range has {
		if !strings.Contains(text, want) {
			l.t.Errorf("it lacks %q:\n%s\n%s", want, text, l.log.String())
		}
	}
}

// asIs changes nothing.
func asIs(*Options, *crawlspec.Spec) {}

// site serves a start page with a link, and counts requests for pages. It refuses /closed without
// an Authorization header.
func site(t *testing.T) (url string, requests *atomic.Int64) {
	t.Helper()
	requests = new(atomic.Int64)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		requests.Add(1)
		w.Header().Set("Content-Type", "text/html")
		switch {
		case r.URL.Path == "/":
			_, _ = io.WriteString(w, `<a href="/closed">closed</a> <a href="/open">open</a>`)
		case r.URL.Path == "/closed" && r.Header.Get("Authorization") == "":
			w.WriteHeader(http.StatusForbidden)
		case r.URL.Path == "/closed" && r.Header.Get("Authorization") != "Bearer x":
			w.WriteHeader(http.StatusUnauthorized)
		default:
			_, _ = io.WriteString(w, "the text of "+r.URL.Path)
		}
	}))
	t.Cleanup(srv.Close)
	return srv.URL, requests
}

// URLs that failed because of a missing or wrong secret are retried in each run. URLs that the site
// refused are retried after the command changes the spec, other than its limits.
func TestFailuresAreRetriedWhenTheSpecOrASecretIsCorrected(t *testing.T) {
	t.Parallel()
	url, _ := site(t)
	l, secrets := &laterRuns{t: t, dir: t.TempDir()}, t.TempDir()
	limit := func(_ *Options, s *crawlspec.Spec) { s.MaxPages = 100 }
	token := func(o *Options, s *crawlspec.Spec) {
		o.Fetcher.Secrets = secrets
		s.Sources = []crawlspec.HostRule{{Hosts: []string{url}, Access: crawlspec.Access{Auth: &crawlspec.Auth{Bearer: "{secret:TOKEN}"}}}}
	}
	const retried = `msg="URLs that failed are retried" crawl=c urls=1`
	for _, step := range []struct {
		name    string
		change  func(*Options, *crawlspec.Spec)
		seeds   []string
		secret  string
		retried bool
		pages   int64
		failed  string // the reason of the failure
	}{
		{name: "the first run", change: asIs, seeds: []string{url + "/"}, pages: 2, failed: "client_error"},
		{name: "the same command", change: asIs, seeds: []string{url + "/"}, pages: 2, failed: "client_error"},
		{name: "another limit", change: limit, pages: 2, failed: "client_error"},
		{name: "auth without its secret", change: token, retried: true, pages: 2, failed: "misconfigured"},
		{name: "a wrong secret", change: token, secret: "y", retried: true, pages: 2, failed: "client_error"},
		{name: "the wrong secret again", change: token, retried: true, pages: 2, failed: "client_error"},
		{name: "the secret", change: token, secret: "x", retried: true, pages: 3},
		{name: "all is fetched", change: token, pages: 3},
	} {
		if step.secret != "" {
			if err := os.WriteFile(filepath.Join(secrets, "TOKEN"), []byte(step.secret), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		s, _ := l.run(step.change, step.seeds...)
		failed := ""
		for _, r := range s.Failures {
			failed += r.Name
		}
		if got := strings.Contains(l.log.String(), retried); got != step.retried || s.Pages != step.pages || failed != step.failed {
			t.Errorf("%s: retried is %t, %d pages, failed %q; want %t, %d, %q\n%s", step.name, got, s.Pages, failed, step.retried, step.pages, step.failed, l.log.String())
		}
	}
}

// Runs that fetch nothing have no rate. They say why there is no page, or that the URLs of their
// command wait.
func TestSummaryOfARunThatFetchesNothing(t *testing.T) {
	t.Parallel()
	url, requests := site(t)
	limit := func(_ *Options, s *crawlspec.Spec) { s.MaxPages = 1 }
	private := func(_ *Options, s *crawlspec.Spec) { s.AllowPrivate = false }
	l := &laterRuns{t: t, dir: t.TempDir()}
	s, text := l.run(private, url+"/")
	l.wants(text, "why          "+url+"/: excluded: its address is private")
	if !s.WroteNothing() || requests.Load() > 0 {
		t.Errorf("a refused crawl: %+v", s)
	}
	_, text = l.run(private)
	l.wants(text, "why          in an earlier run, "+url+"/: excluded: its address is private", "nothing was fetched")

	l = &laterRuns{t: t, dir: t.TempDir()}
	l.run(limit, url+"/")
	for range 2 { // once as a new URL, then as a known one
		s, text = l.run(limit, url+"/other")
		l.wants(text, "c: already at its limit max_pages, so the URLs of this command were added to the crawl and not fetched: raise --max-pages to fetch them, or give another --data")
		if s.PagesPerSecond != 0 || s.PagesBefore != 1 || strings.Contains(text, "pages/s") {
			t.Errorf("%d pages before, %f a second\n%s", s.PagesBefore, s.PagesPerSecond, text)
		}
	}
	if _, text = l.run(limit, url+"/"); strings.Contains(text, "URLs of this command") {
		t.Errorf("the seed was fetched:\n%s", text)
	}
}

// The summary of a new run over all pages is not that of a resumed one, and its row has the
// results.
func TestSummaryOfANewRunHasWhatItFound(t *testing.T) {
	t.Parallel()
	url, _ := site(t)
	l := &laterRuns{t: t, dir: t.TempDir()}
	l.run(asIs, url+"/")
	again := func(o *Options, _ *crawlspec.Spec) { o.Again = true }
	s, text := l.run(again)
	l.wants(text, "pages        4 (2 in this run)", "run          2 same, 1 failed\n")
	if s.Run == nil || s.Run.Same != 2 {
		t.Errorf("%+v", s.Run)
	}
	s, text = l.run(asIs)
	if s.CompleteSince.IsZero() || strings.Contains(text, "in this run") || strings.Contains(text, "resumed") {
		t.Errorf("nothing was done:\n%s", text)
	}
}

// Runs without a page fail: that of a command whose URLs all fail, and a new run in which
// everything fails.
func TestRunsThatFetchNothingFail(t *testing.T) {
	t.Parallel()
	url, _ := site(t)
	l := &laterRuns{t: t, dir: t.TempDir()}
	gone := func(o *Options, s *crawlspec.Spec) {
		s.Sources = []crawlspec.HostRule{{Hosts: []string{url}, Access: crawlspec.Access{Proxies: []string{"http://127.0.0.1:1"}}}}
	}
	again := func(o *Options, s *crawlspec.Spec) { o.Again = true }
	for _, step := range []struct {
		name    string
		change  func(*Options, *crawlspec.Spec)
		seeds   []string
		nothing bool
	}{
		{"a failed seed of two", asIs, []string{url + "/", url + "/closed"}, false},
		{"nothing to do", asIs, nil, false},
		{"a failed seed", asIs, []string{url + "/closed"}, true},
		{"the same, and a fetched one", asIs, []string{url + "/closed", url + "/"}, false},
		{"a new run", again, nil, false},
		{"a new run of which all fails", func(o *Options, s *crawlspec.Spec) { again(o, s); gone(o, s) }, nil, true},
		{"after that", asIs, nil, false},
	} {
		s, text := l.run(step.change, step.seeds...)
		if s.FetchedNothing() != step.nothing || step.name == "a failed seed" && !strings.Contains(text, "/closed: failed: client_error: 403") {
			t.Errorf("%s: it fetched nothing: %t, want %t\n%s", step.name, s.FetchedNothing(), step.nothing, text)
		}
	}
}

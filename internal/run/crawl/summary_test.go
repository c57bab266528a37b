package crawl

import (
	"bytes"
	"strings"
	"testing"

	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
)

func TestSummaryNamesCancelledHostsAndFailedLogins(t *testing.T) {
	t.Parallel()
	var text bytes.Buffer
	s := Summary{Crawl: "news", Outcome: OutcomeComplete, CancelledHosts: []string{"a.test", "*.b.test"}, FailedLogins: 2}
	s.Write(&text)
	for _, want := range []string{"logins       2 failed: check render.login", "news: complete, but for hosts that are cancelled", "a.test, *.b.test; seine resume --host NAME"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("it lacks %q:\n%s", want, text.String())
		}
	}
}

// A run of a crawl that is at its limit fetches nothing, and names the queue that its URLs are in.
func TestSummaryOfALimitThatWasReachedBefore(t *testing.T) {
	t.Parallel()
	s := Summary{Outcome: OutcomeLimit, Limit: "max_pages", Pages: 6, PagesBefore: 6, URLs: URLCounts{Open: 15}}
	if got, want := s.headline(), "already at its limit max_pages, so no page was fetched; 15 URLs in the queue: raise --max-pages to continue"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	s.Pages = 7
	if got, want := s.headline(), "stopped at its limit max_pages; raise --max-pages to continue"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// The summary has what helps: no pace of a run without pages, no slow host that is fast, and the flags that continue.
func TestSummaryLeavesOutUselessRows(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		s        Summary
		has, not []string
	}{
		"pages":      {Summary{Pages: 5, PagesBefore: 2, Seconds: 1, PagesPerSecond: 3}, []string{"time         1s, 3 pages/s"}, nil},
		"no pages":   {Summary{Pages: 5, PagesBefore: 5, Seconds: 1, PagesPerSecond: 3}, []string{"time         1s\n"}, []string{"pages/s"}},
		"both runs":  {Summary{Pages: 5, PagesBefore: 2, Requests: map[messages.Class]int64{"ok": 5}}, []string{"requests     5 ok, in all runs\n"}, nil},
		"one run":    {Summary{Pages: 5, Requests: map[messages.Class]int64{"ok": 5}}, []string{"requests     5 ok\n"}, nil},
		"fast host":  {Summary{SlowestHosts: []frontierapi.HostStatus{{Host: "a.test", MeanMS: 2}}}, nil, []string{"slowest"}},
		"slow host":  {Summary{SlowestHosts: []frontierapi.HostStatus{{Host: "a.test", MeanMS: 300}}}, []string{"slowest      a.test: 300 ms a request"}, nil},
		"shells":     {Summary{EmptyShells: &PageSample{1, "http://a.test/"}}, []string{"warning      1 page with scripts and hardly any text, such as http://a.test/: try --render auto"}, nil},
		"logins":     {Summary{LoginForms: &PageSample{2, "http://a.test/"}}, []string{"warning      2 pages with a login form, such as http://a.test/: set render.login in the spec, or auth under sources"}, nil},
		"cancelled":  {Summary{Outcome: OutcomeCancelled, Crawl: "news", Data: "d"}, []string{"run seine resume --data d --crawl news and the same command"}, nil},
		"by default": {Summary{Outcome: OutcomeCancelled, Crawl: "default", Data: "./seine-data"}, []string{"run seine resume and the same command"}, nil},
		"paused":     {Summary{Outcome: OutcomeInterrupted, Paused: true, Crawl: "default", Data: "d"}, []string{"run seine resume --data d and the same command"}, nil},
		"database": {Summary{Records: 3, Out: "postgres://db/x", Rows: map[string]int64{"page": 3}, Tables: map[string]string{"page": "seine.pages"}},
			[]string{"output       3 records in postgres://db/x\n               SELECT * FROM seine.pages: the latest record of each page; 3 records written"}, nil},
		"nats server": {Summary{Outcome: OutcomeCancelled, Crawl: "default"}, []string{"run seine resume and the same command"}, nil},
	} {
		var text bytes.Buffer
		c.s.Write(&text)
		for _, want := range c.has {
			if !strings.Contains(text.String(), want) {
				t.Errorf("%s: it lacks %q:\n%s", name, want, text.String())
			}
		}
		for _, not := range c.not {
			if strings.Contains(text.String(), not) {
				t.Errorf("%s: it has %q:\n%s", name, not, text.String())
			}
		}
	}
}

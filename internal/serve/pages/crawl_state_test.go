package pages

import (
	"strings"
	"testing"
	"time"

	"seine/internal/ops/overview"
	"seine/pkg/crawlspec"
	"seine/pkg/stages/frontier/frontierapi"
)

// A crawl has one state, which says what ended it in words, and offers what makes sense then.
func TestStateOfACrawl(t *testing.T) {
	counted := func(queued, pages int64) (c overview.Crawl) {
		c.State, c.Queued, c.Pages = overview.Running, queued, pages
		c.Spec = &crawlspec.Spec{MaxPages: 60, MaxBytes: 2e6, MaxDuration: crawlspec.Duration(time.Minute)}
		return c
	}
	for _, test := range []struct {
		change    func(*overview.Crawl)
		word, why string
		may       string
	}{
		{func(*overview.Crawl) {}, "running", "", "pause cancel"},
		{func(c *overview.Crawl) { c.Queued, c.NextRun = 0, time.Now() }, "scheduled", "in this run", "pause cancel"},
		{func(c *overview.Crawl) { c.Idle = true }, "stopped", "18 URLs left", "resume cancel"},
		{func(c *overview.Crawl) { c.State = overview.Paused }, "paused", "18 URLs left", "resume cancel"},
		{func(c *overview.Crawl) { c.State, c.Stalled = overview.Blocked, true }, "blocked", "spec", "pause cancel"},
		{func(c *overview.Crawl) { c.State, c.End = overview.Cancelled, frontierapi.Complete }, "cancelled", "excluded", "resume"},
		{func(c *overview.Crawl) { c.End, c.Queued = frontierapi.Complete, 0 }, "complete", "Every URL", ""},
		{func(c *overview.Crawl) { c.End, c.Queued, c.Why = frontierapi.Complete, 0, "1 URL failed: gone" }, "complete", "1 URL failed: gone", ""},
		{func(c *overview.Crawl) { c.End = frontierapi.PagesLimit }, "limit reached", "(max_pages: 60), with 18 URLs left", ""},
		{func(c *overview.Crawl) { c.End = frontierapi.BytesLimit }, "limit reached", "(max_bytes: 2 MB)", ""},
		{func(c *overview.Crawl) { c.End = frontierapi.TimeLimit }, "limit reached", "(max_duration: 1m0s)", ""},
		{func(c *overview.Crawl) { c.End, c.Spec = frontierapi.TimeLimit, nil }, "limit reached", "A limit", ""},
		{func(c *overview.Crawl) { c.End, c.Queued = frontierapi.Empty, 0 }, "empty", "no URLs", ""},
		{func(c *overview.Crawl) { c.Problem = "no frontier answers" }, "unknown", "no frontier answers", "pause cancel"},
		{func(c *overview.Crawl) { c.Unasked = true }, "not looked at", "Open it", ""},
	} {
		c := counted(18, 60)
		test.change(&c)
		s, may := stateOf(&c), []string{}
		for _, verb := range []string{"pause", "resume", "cancel"} {
			if s.May(verb) {
				may = append(may, verb)
			}
		}
		if s.Word != test.word || !strings.Contains(s.Why, test.why) || strings.Join(may, " ") != test.may {
			t.Errorf("%q, %q, may %q; want %q, %q, may %q", s.Word, s.Why, may, test.word, test.why, test.may)
		}
	}
}

// Crawls are in the order of their last activity; those that are active now keep their places from look to look.
func TestCrawlsAreSortedByActivity(t *testing.T) {
	now := time.Now()
	crawl := func(name string, started, changed time.Duration) (c overview.Crawl) {
		c.Name, c.Started, c.Changed = name, now.Add(-started).UnixMilli(), now.Add(-changed).UnixMilli()
		return c
	}
	var names []string
	for _, c := range byActivity([]overview.Crawl{
		{Name: "never"}, crawl("old", 9*time.Hour, 8*time.Hour), crawl("first", time.Hour, time.Second), crawl("ended", 2*time.Hour, time.Hour), crawl("second", time.Minute, 3*time.Second),
	}, now) {
		names = append(names, c.Name)
	}
	if got := strings.Join(names, " "); got != "second first ended old never" {
		t.Errorf("the order is %s", got)
	}
}

package overview

import (
	"strings"
	"testing"
	"time"

	"seine/pkg/crawlspec"
	"seine/pkg/stages/frontier/frontierapi"
)

// A crawl has one state, with a text about its end and the actions that fit.
func TestStateInWords(t *testing.T) {
	counted := func(queued, pages int64) (c Crawl) {
		c.State, c.Queued, c.Pages = Running, queued, pages
		c.Spec = &crawlspec.Spec{MaxPages: 60, MaxBytes: 2e6, MaxDuration: crawlspec.Duration(time.Minute)}
		return c
	}
	for _, test := range []struct {
		change    func(*Crawl)
		word, why string
		may       string
	}{
		{func(*Crawl) {}, "running", "", "pause cancel"},
		{func(c *Crawl) { c.Queued, c.NextRun = 0, time.Now() }, "scheduled", "in this run", "pause cancel"},
		{func(c *Crawl) { c.Idle = true }, "stopped", "18 URLs left", "resume cancel"},
		{func(c *Crawl) { c.State = Paused }, "paused", "18 URLs left", "resume cancel"},
		{func(c *Crawl) { c.Idle, c.Queued = true, 0 }, "stopped", "0 URLs left", "resume cancel"},
		{func(c *Crawl) { c.State, c.Idle = Deleting, true }, "deleting", "output is kept", ""},
		{func(c *Crawl) { c.State, c.Stalled = Blocked, true }, "blocked", "spec", "pause cancel"},
		{func(c *Crawl) { c.State, c.End = Cancelled, frontierapi.Complete }, "cancelled", "excluded", "resume"},
		{func(c *Crawl) { c.End, c.Queued = frontierapi.Complete, 0 }, "complete", "No URL is left", ""},
		{func(c *Crawl) { c.End, c.Queued, c.Why = frontierapi.Complete, 0, "1 URL failed: gone" }, "complete", "1 URL failed: gone", ""},
		{func(c *Crawl) { c.End = frontierapi.PagesLimit }, "limit reached", "(max_pages: 60), with 18 URLs left", ""},
		{func(c *Crawl) { c.End = frontierapi.BytesLimit }, "limit reached", "(max_bytes: 2 MB)", ""},
		{func(c *Crawl) { c.End = frontierapi.TimeLimit }, "limit reached", "(max_duration: 1m0s)", ""},
		{func(c *Crawl) { c.End, c.Spec = frontierapi.TimeLimit, nil }, "limit reached", "A limit", ""},
		{func(c *Crawl) { c.End, c.Queued = frontierapi.Empty, 0 }, "empty", "no URLs", ""},
		{func(c *Crawl) { c.Problem = "no frontier answers" }, "unknown", "no frontier answers", "pause cancel"},
		{func(c *Crawl) { c.Unasked = true }, "not looked at", "Open it", ""},
	} {
		c := counted(18, 60)
		test.change(&c)
		s, may := c.StateInWords(), []string{}
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

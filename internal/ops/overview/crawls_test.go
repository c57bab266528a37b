package overview

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
)

func TestOfManyCrawlsThoseInSightAreAskedAbout(t *testing.T) {
	var names []string
	for i := range 100 {
		names = append(names, fmt.Sprintf("c%02d", i))
	}
	if got := upTo([]string{"c70", "c71"}, names, 3); len(got) != 3 || !got["c70"] || !got["c71"] || !got["c00"] {
		t.Errorf("it asks about %v", got)
	}
	if got := upTo(nil, names, 0); len(got) != len(names) {
		t.Errorf("without a bound it asks about %d of %d", len(got), len(names))
	}
}

// The cached state of an ended crawl is valid until anything has changed: new URLs, another spec.
func TestOnlyWhatHasEndedIsRemembered(t *testing.T) {
	crawl := func(end frontierapi.EndReason, problem string) Crawl {
		c := Crawl{Name: string(end) + problem, End: end, Rev: 2, Problem: problem, State: Running}
		c.Changed, c.Done, c.Pages = 17, 5, 5
		return c
	}
	var r Reader
	r.remember([]Crawl{crawl(frontierapi.Complete, ""), crawl(frontierapi.NotEnded, ""), crawl(frontierapi.Empty, ""), crawl(frontierapi.Complete, "no answer")})
	if len(r.ends) != 1 || r.ends["complete"] != (ended{frontierapi.Complete, 2, 17, 5, 0, 5}) {
		t.Errorf("it remembers %+v", r.ends)
	}
	for what, change := range map[string]func(*Crawl){
		"something happened":               func(c *Crawl) { c.Changed++ },
		"URLs came, by a clock behind":     func(c *Crawl) { c.Queued++ },
		"a page was fetched, by the same":  func(c *Crawl) { c.Pages++ },
		"its spec says something else now": func(c *Crawl) { c.Rev++ },
	} {
		c := crawl(frontierapi.Complete, "")
		change(&c)
		if r.ends["complete"] == c.ended() {
			t.Errorf("%s: it counts as ended", what)
		}
	}
}

// All active crawls are queried, and as many of the others as the limit allows.
func TestCrawlsThatEndedFillUpTheOverview(t *testing.T) {
	others := []string{"a", "b", "c", "d"}
	for most, want := range map[int][]string{0: {"a", "b", "c", "d", "x"}, 2: {"b", "x"}, 3: {"a", "b", "x"}, 9: {"a", "b", "c", "d", "x"}} {
		if got := slices.Sorted(maps.Keys(upTo([]string{"x", "b", "x"}, others, most))); !slices.Equal(got, want) {
			t.Errorf("at most %d: %v, want %v", most, got, want)
		}
	}
}

// A crawl that ended without a page explains the fate of its URLs.
func TestCrawlWithoutAPageSaysWhy(t *testing.T) {
	for _, c := range []struct {
		end      frontierapi.EndReason
		pages    int64
		excluded map[string]int64
		failed   map[string]int64
		want     string
	}{
		{frontierapi.Complete, 0, map[string]int64{"address": 1}, nil, "1 URL excluded: " + Hints[frontierapi.ReasonAddress]},
		{frontierapi.Complete, 0, map[string]int64{"scope": 2, "exclude": 1}, map[string]int64{"timeout": 3},
			"1 URL excluded: an --exclude pattern matches it; 2 URLs excluded: scope; 3 URLs failed: timeout"},
		{frontierapi.Complete, 1, map[string]int64{"address": 1}, nil, ""},
		{frontierapi.NotEnded, 0, map[string]int64{"address": 1}, nil, ""},
		{frontierapi.Empty, 0, nil, nil, ""},
	} {
		crawl := Crawl{End: c.end}
		crawl.Pages, crawl.Excluded, crawl.FailedBy = c.pages, c.excluded, c.failed
		if crawl.setState(&crawlspec.Revision{Spec: &crawlspec.Spec{State: crawlspec.Running}}); crawl.Why != c.want {
			t.Errorf("%+v: %q", c, crawl.Why)
		}
	}
}

// Clients can wait for one field: the state of an ended crawl is its end.
func TestStateOfACrawl(t *testing.T) {
	for _, c := range []struct {
		set   crawlspec.RunState
		end   frontierapi.EndReason
		still bool
		want  State
		del   *messages.Deletion
	}{
		{crawlspec.Running, frontierapi.NotEnded, false, Running, nil},
		{crawlspec.Running, frontierapi.Complete, false, "complete", nil},
		{crawlspec.Running, frontierapi.PagesLimit, false, "pages_limit", nil},
		{crawlspec.Paused, frontierapi.NotEnded, false, Paused, nil},
		{crawlspec.Cancelled, frontierapi.Complete, false, Cancelled, nil},
		{crawlspec.Running, frontierapi.NotEnded, true, Blocked, nil},
		{crawlspec.Running, frontierapi.Empty, false, Deleting, &messages.Deletion{Rev: 6}},
		{crawlspec.Running, frontierapi.Complete, false, Deleting, &messages.Deletion{Rev: 6}},
		{crawlspec.Running, frontierapi.Complete, false, "complete", &messages.Deletion{Rev: 7, Done: true}},
		{crawlspec.Running, frontierapi.NotEnded, false, Running, &messages.Deletion{Rev: 5}}, // of an earlier crawl
	} {
		crawl := Crawl{End: c.end}
		crawl.Stalled = c.still
		if crawl.setState(&crawlspec.Revision{Spec: &crawlspec.Spec{State: c.set}, Rev: 6, Deletion: c.del}); crawl.State != c.want {
			t.Errorf("%+v is %s", c, crawl.State)
		}
	}
}

package crawl

import (
	"bytes"
	"strings"
	"testing"

	"seine/internal/run/specfile"
	"seine/internal/schedule/traps"
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

// A run of a crawl at its limit fetches nothing, and names the queue of its URLs.
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

// The summary leaves out useless rows: the rate of a run without pages, and slow hosts that are
// fast. It names the flags to continue.
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
			[]string{"output       3 records in postgres://db/x\n               3 records of kind page; their latest versions: SELECT * FROM seine.pages"}, nil},
		"trap": {Summary{Pages: 303, Reasons: frontierapi.Reasons{Exclusions: []frontierapi.Reason{
			{Name: "trap_same_content", URLs: 2700, Example: &frontierapi.Example{URL: "http://a.test/9"}}, {Name: "trap_calendar", URLs: 30}, {Name: "scope", URLs: 900},
		}}}, []string{"warning      2,700 URLs excluded as trap_same_content, such as http://a.test/9: to fetch such pages, set traps.same_content_after to 0 in the spec\n"},
			[]string{"calendar_ahead", "excluded as scope"}},
		"two guards": {Summary{Pages: 100, Reasons: frontierapi.Reasons{Exclusions: []frontierapi.Reason{{Name: "trap_calendar", URLs: 11}, {Name: "trap_path_depth", URLs: 10}}}},
			[]string{"warning      11 URLs excluded as trap_calendar: to fetch such pages, set traps.calendar_ahead and traps.calendar_back to 0 in the spec\n"}, []string{"max_path_depth"}},
		"late": {Summary{Pages: 41, PagesBefore: 41, Records: 61, RecordsLate: 41, Out: "o"}, []string{"written      41 records of pages that earlier runs fetched\n"}, []string{"pages/s"}},
		"run": {Summary{Pages: 69, PagesBefore: 35, NewRun: true, Run: &frontierapi.Run{Same: 32, Changed: 1, Failed: 3, Gone: 1}, Changes: "seine cat o --changes --run last"},
			[]string{"pages        69 (34 in this run)", "run          32 same, 2 failed, 1 changed, 1 gone; seine cat o --changes --run last lists new and changed records\n"}, nil},
		"resumed run": {Summary{Pages: 69, PagesBefore: 35, Run: &frontierapi.Run{Same: 34}, Changes: "seine cat o --changes --run last"},
			[]string{"pages        69 (34 since it was resumed)", "run          34 same\n"}, nil},
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

// The keys that the summary names for a guard are valid in a spec.
func TestKeysOfGuardsAreInTheSpec(t *testing.T) {
	t.Parallel()
	for _, guard := range traps.Reasons() {
		for key := range strings.SplitSeq(guard.Keys(), " and ") {
			name, isTrap := strings.CutPrefix(key, "traps.")
			if _, err := specfile.Load("spec.yaml", []byte("traps: {"+name+": 0}")); err != nil || !isTrap {
				t.Errorf("%s: %q: %v", guard, key, err)
			}
		}
	}
	if keys := traps.Reason(frontierapi.ReasonScope).Keys(); keys != "" {
		t.Errorf("scope has the keys %s", keys)
	}
}

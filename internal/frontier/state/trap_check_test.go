package state

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"seine/internal/schedule/traps"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
)

// A URL that a guard has excluded by a comparison stays excluded in later runs, until the guard is
// turned off.
func TestRunKeepsOutWhatGuardsHaveFoundByComparing(t *testing.T) {
	t.Parallel()
	const root = "https://a.test/"
	for guard, tt := range map[traps.Reason]struct {
		taken, kept string
		sets        int
		shapes      int64
	}{
		traps.ParameterOrder: {root + "p?a=1&b=2", root + "p?b=2&a=1", 10, 10},
		traps.ParameterSets:  {root + "p?a=1", root + "p?b=2", 1, 10},
		traps.SameShape:      {root + "n/1", root + "n/2", 10, 1},
	} {
		taken, kept := tt.taken, tt.kept
		w := newPartitionFixture(t, func(s *crawlspec.Spec) {
			s.Schedule, s.Traps.MaxParameterSets, s.Traps.MaxSameShape = "@every 1h", tt.sets, tt.shapes
		})
		w.seed(root)
		visit := func(links ...string) {
			t.Helper()
			w.wantSent(w.dispatch(10), root)
			w.result(root, nil)
			w.feed(messages.SourceLink, 1, links...)
			w.parsed(root)
		}
		visit(taken, kept)
		w.wantState(kept, Excluded, string(guard))
		w.wantSent(w.dispatch(10), taken)
		w.result(taken, nil)
		w.parsed(taken)

		w.pass(time.Hour)
		w.tend()
		w.wantSent(w.dispatch(10), root)
		run := w.part.crawls.get("c").Run
		_, err := w.part.ApplyCandidates(&messages.Candidates{
			Crawl: "c", Source: messages.SourceLink, Depth: 1, Referrer: root, Run: run, URLs: []messages.Candidate{{URL: taken}, {URL: kept}},
		}, 1, w.at())
		w.must(err)
		w.must(w.part.Commit(w.at()))
		w.wantState(taken, Queued, "")
		w.wantState(kept, Excluded, string(guard))

		w.change(func(s *crawlspec.Spec) { s.Traps.MaxParameterSets, s.Traps.MaxSameShape = 0, 0 })
		w.tend()
		w.wantState(kept, Queued, "")
	}
}

// The reason of an excluded URL stands even if no current rule excludes it, if it was found by a
// request.
func TestWhatWasFoundOfAURLStands(t *testing.T) {
	t.Parallel()
	rules := newPartitionFixture(t, nil).current
	for _, reason := range exclusionReasons() {
		want := slices.Contains([]string{
			frontierapi.ReasonRobots, frontierapi.ReasonAddress, frontierapi.ReasonType, string(traps.ParameterOrder), string(traps.ParameterSets), string(traps.SameShape), string(traps.SameContent),
		}, reason)
		if got := rules.stands(&urlRecord{URL: "https://a.test/", State: Excluded, Reason: reason}); got != want {
			t.Errorf("%s stands: %t, want %t", reason, got, want)
		}
	}
}

// docs/reference/outcomes.md lists every reason for which URLs are excluded or fail.
func TestReasonsAreDocumented(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/reference/outcomes.md")
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "| `") {
			cell, _, _ := strings.Cut(line[2:], " |")
			rows = append(rows, strings.Split(cell, ", ")...)
		}
	}
	for _, reason := range exclusionReasons() {
		if !slices.Contains(rows, "`"+reason+"`") {
			t.Errorf("docs/reference/outcomes.md has no row for %s", reason)
		}
	}
	for _, reason := range []string{frontierapi.ParseFailed, frontierapi.HostGivenUp} {
		if !strings.Contains(string(text), "`"+reason+"`") {
			t.Errorf("docs/reference/outcomes.md does not name %s", reason)
		}
	}
}

// exclusionReasons returns all reasons why URLs are excluded.
func exclusionReasons() []string {
	all := []string{
		frontierapi.ReasonScope, frontierapi.ReasonScheme, frontierapi.ReasonInclude, frontierapi.ReasonExclude, frontierapi.ReasonDepth, frontierapi.ReasonRedirects, frontierapi.ReasonHostPages, frontierapi.ReasonCancelled,
		frontierapi.ReasonNormalized, frontierapi.ReasonRobots, frontierapi.ReasonAddress, frontierapi.ReasonExtension, frontierapi.ReasonType,
	}
	for _, guard := range traps.Reasons() {
		all = append(all, string(guard))
	}
	return all
}

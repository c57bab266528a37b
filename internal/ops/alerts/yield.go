package alerts

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"seine/internal/base/humanize"
	"seine/pkg/crawlspec"
)

// leastRuns is the number of earlier runs needed to evaluate a run, MostRuns the number of runs it
// is compared with.
const (
	leastRuns = 3
	MostRuns  = 10
)

// yields compares the records of the last run with those of earlier runs, by kind. These are mostly
// runs of one site under one spec. So a yield far below their median suggests that the site has
// changed.
func (s *State) yields(a *crawlspec.Alerts, look *Observation) (found []finding) {
	if a.Yield == 0 {
		return nil
	}
	runs := look.Crawl.Runs
	if runs == nil { // unknown runs do not change alerts
		for i := range s.Alerts {
			if r := &s.Alerts[i]; r.Kind == Yield {
				found = append(found, finding{kind: Yield, subject: r.Target, value: r.Value, threshold: r.Threshold})
			}
		}
		return found
	}
	if runs = s.comparable(runs, look); len(runs) <= leastRuns {
		return nil
	}
	for _, kind := range slices.Sorted(maps.Keys(kindsOf(runs))) {
		if runs[0].Records[kind] == 0 && !slices.Contains(look.Crawl.Kinds, kind) {
			continue // the spec no longer makes this kind
		}
		found = append(found, lastYield(a, kind, runs))
	}
	return found
}

// comparable returns the runs since Counting last changed.
func (s *State) comparable(runs []Run, look *Observation) []Run {
	if now := look.Crawl.Counting; s.Counting != now {
		if s.Counting != "" { // not the first observation
			s.CountingSince = look.At
		}
		s.Counting = now
	}
	before := slices.IndexFunc(runs, func(r Run) bool { return r.Started.Before(s.CountingSince) })
	if before < 0 {
		return runs
	}
	return runs[:before]
}

// lastYield returns the finding of the newest conclusive run. A run of unchanged pages only is
// inconclusive and leaves the previous result.
func lastYield(a *crawlspec.Alerts, kind string, runs []Run) finding {
	last := yield(a, kind, runs)
	for f := last; ; f = yield(a, kind, runs) {
		if f.bad || f.good {
			return f
		}
		if runs = runs[1:]; len(runs) <= leastRuns {
			return last
		}
	}
}

func kindsOf(runs []Run) map[string]bool {
	kinds := make(map[string]bool)
	for i := range runs {
		for kind := range runs[i].Records {
			kinds[kind] = true
		}
	}
	return kinds
}

// yield compares the first run with the others. An unchanged page makes no new record, so it counts
// as if it had been parsed. In the first run it counts as a page of the best run; in the earlier
// runs it counts as an average page, because a run with one changed page says little about the
// others. This overestimates yields, to avoid false alerts. It also delays clearing an alert until
// pages with as many records arrive.
func yield(a *crawlspec.Alerts, kind string, runs []Run) finding {
	runs = runs[:min(len(runs), MostRuns+1)]
	best, records, pages := 0.0, int64(0), int64(0)
	for i := range runs {
		r := &runs[i]
		if r.Pages > 0 {
			best = max(best, float64(r.Records[kind])/float64(r.Pages))
		}
		if i > 0 {
			records, pages = records+r.Records[kind], pages+r.Pages
		}
	}
	mean := float64(records) / float64(max(pages, 1))
	made := make([]float64, len(runs))
	for i := range runs {
		made[i] = float64(runs[i].Records[kind]) + mean*float64(runs[i].Unchanged)
	}
	made[0] += (best - mean) * float64(runs[0].Unchanged)
	median := medianOf(made[1:])
	f := finding{kind: Yield, subject: kind, value: made[0], threshold: a.Yield * median}
	f.bad = f.value < f.threshold
	last := &runs[0]
	fresh := last.Records[kind]
	f.good = !f.bad && (last.Unchanged == 0 || fresh > 0 && float64(fresh) >= a.Yield*mean*float64(last.Pages))
	f.text = fmt.Sprintf("the run of %s made %s of kind %s; the median of the previous %d is %.0f",
		last.Started.UTC().Format(time.RFC3339), humanize.Plural(last.Records[kind], "record"), kind, len(runs)-1, median)
	if last.Unchanged > 0 {
		f.text += fmt.Sprintf(" (it counts as %.0f with its %s)", made[0], humanize.Plural(last.Unchanged, "unchanged page"))
	}
	return f
}

func medianOf(all []float64) float64 {
	sorted := slices.Sorted(slices.Values(all))
	mid := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[mid]
	}
	return (sorted[mid-1] + sorted[mid]) / 2
}

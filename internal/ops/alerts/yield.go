package alerts

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"seine/internal/base/humanize"
	"seine/pkg/crawlspec"
)

// leastRuns is how many runs must have ended before the one that is judged, MostRuns how
// many of them it is compared with.
const (
	leastRuns = 3
	MostRuns  = 10
)

// yields compares what the last run has made of each kind with the runs before it. Those
// are of one crawl under one spec for the most part, and of one site, so a kind that is
// less than a part of their median is a sign that the site has changed.
func (s *State) yields(a *crawlspec.Alerts, look *Observation) (found []finding) {
	if a.Yield == 0 {
		return nil
	}
	runs := look.Crawl.Runs
	if runs == nil { // nothing is known yet, so nothing is reported
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
			continue // the spec makes none any more
		}
		found = append(found, lastYield(a, kind, runs))
	}
	return found
}

// comparable are the runs that began since records are counted as they are now.
func (s *State) comparable(runs []Run, look *Observation) []Run {
	if now := look.Crawl.Counting; s.Counting != now {
		if s.Counting != "" { // it is not just the first look
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

// lastYield is what the last run that says something says of a kind: one of unchanged
// pages alone says nothing, and leaves what a run before it has said.
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

// yield compares what the first of some runs has made of a kind with the others. Of a
// page that is unchanged no record is made again: each counts as one that was parsed. In the
// run that is judged it counts as a page in the best of the runs, in those before as a page
// of them all: a run in which one page has changed says little of the others. Too much is so
// counted rather than too little, to avoid false alerts. But nothing is right
// again before pages come that give as much.
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

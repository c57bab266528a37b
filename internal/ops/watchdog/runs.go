package watchdog

import (
	"context"
	"fmt"

	"seine/internal/ops/alerts"
	"seine/internal/ops/overview"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
)

// learnRuns asks for the runs of a crawl that have ended, where there may be others than
// those that are known: nothing of a run is open, or another has begun.
func (w *Watchdog) learnRuns(ctx context.Context, c *overview.Crawl, spec *crawlspec.Spec, k *crawlAlerts) {
	news := k.run != c.Run || c.Pending() == c.Recrawling && k.changed != c.Changed
	if spec.Alerts.Yield == 0 || c.Problem != "" || k.runs != nil && !news {
		return
	}
	all, err := w.runs(ctx, c.Name, spec)
	if err != nil {
		w.Log.Debug("cannot read the yields of runs", "crawl", c.Name, "error", err)
		return // what is known stays
	}
	k.runs, k.run, k.changed = make([]alerts.Run, 0, len(all)), c.Run, c.Changed
	for i := range all {
		r := &all[i]
		if r.Ended.IsZero() {
			k.changed = 0
			continue
		}
		k.runs = append(k.runs, yieldOf(r, spec))
	}
}

// counting are the keys of a spec by which a page that came makes a record or none. What
// the rules find on it is not among them: a change that makes them find less is reported.
func counting(spec *crawlspec.Spec) string {
	return fmt.Sprintf("%+v gone:%s", spec.Duplicates, spec.Gone)
}

// yieldOf is what a run has made, and of how many pages: of those that came with the
// same bytes nothing is made either, if the spec drops them.
func yieldOf(r *frontierapi.Run, spec *crawlspec.Spec) alerts.Run {
	run := alerts.Run{Started: r.Started, Records: r.Records, Pages: r.Pages, Unchanged: r.Requests[messages.NotModified]}
	if spec.Duplicates.Unchanged == crawlspec.UnchangedDrop {
		run.Pages, run.Unchanged = r.New+r.Changed, r.Same
	}
	return run
}

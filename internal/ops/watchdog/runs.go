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

// learnRuns reads the ended runs of a crawl if there may be new ones: a run has nothing pending, or
// another run has begun.
func (w *Watchdog) learnRuns(ctx context.Context, c *overview.Crawl, spec *crawlspec.Spec, k *crawlAlerts) {
	news := k.run != c.Run || c.Pending() == c.Recrawling && k.changed != c.Changed
	if spec.Alerts.Yield == 0 || c.Problem != "" || k.runs != nil && !news {
		return
	}
	all, err := w.runs(ctx, c.Name, spec)
	if err != nil {
		w.Log.Debug("cannot read the yields of runs", "crawl", c.Name, "error", err)
		return // keep the known runs
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

// counting identifies the keys of a spec that decide whether a fetched page makes a record. It
// omits the rules: a change of rules that yields fewer records is reported.
func counting(spec *crawlspec.Spec) string {
	return fmt.Sprintf("%+v gone:%s", spec.Duplicates, spec.Gone)
}

// yieldOf returns the yield of a run. If the spec drops unchanged pages, they count as unchanged,
// because they make no records.
func yieldOf(r *frontierapi.Run, spec *crawlspec.Spec) alerts.Run {
	run := alerts.Run{Started: r.Started, Records: r.Records, Pages: r.Pages, Unchanged: r.Requests[messages.NotModified]}
	if spec.Duplicates.Unchanged == crawlspec.UnchangedDrop {
		run.Pages, run.Unchanged = r.New+r.Changed, r.Same
	}
	return run
}

package frontier

import (
	"cmp"
	"context"
	"slices"

	"seine/pkg/crawlspec"
)

// Runs returns the figures of the newest runs of a crawl, MaxRuns at most, over all
// partitions, the newest first.
func (c *Client) Runs(ctx context.Context, crawl string, spec *crawlspec.Spec, most int) ([]Run, error) {
	parts, err := c.statuses(ctx, Query{Crawl: crawl, Runs: most})
	if err != nil {
		return nil, err
	}
	runs := mergeRuns(parts, most)
	for i := range runs {
		if i > 0 {
			runs[i].Ended = runs[i].Last
		}
	}
	if len(runs) == 0 || !runOver(parts, runs[0].Run, spec) {
		return runs, nil
	}
	drained, err := c.drained(ctx, crawl, parts)
	if err != nil || !drained {
		return runs, err
	}
	after, err := c.partitions(ctx, crawl)
	if err == nil && !moved(parts, after) {
		runs[0].Ended = runs[0].Last
	}
	return runs, err
}

// runOver reports whether nothing is to happen any more in the latest run, as far as the
// partitions know. One that has not begun it will.
func runOver(parts []PartitionStatus, latest int64, spec *crawlspec.Spec) bool {
	total := sum(parts)
	for i := range parts {
		c := &parts[i].Counters
		if c.Known() > 0 && c.Run < latest && c.Started < latest*1000 {
			return false
		}
	}
	done := total.Pending() == total.Recrawling && !working(parts, spec)
	return done || endOf(parts, &total.Counters, spec) != NotEnded
}

// mergeRuns puts together what partitions have of the runs of a crawl, the newest first.
func mergeRuns(parts []PartitionStatus, most int) []Run {
	byRun := make(map[int64]*Run)
	for i := range parts {
		for j := range parts[i].Runs {
			of := &parts[i].Runs[j]
			if byRun[of.Run] == nil {
				byRun[of.Run] = &Run{Run: of.Run}
			}
			byRun[of.Run].Add(of)
		}
	}
	var runs []Run
	for _, r := range byRun {
		runs = append(runs, *r)
	}
	slices.SortFunc(runs, func(a, b Run) int { return cmp.Compare(b.Run, a.Run) })
	return runs[:min(most, len(runs))]
}

package frontierapi

import (
	"cmp"
	"context"
	"slices"
	"time"

	"seine/internal/base/tally"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// Run are the figures of one run of a crawl: of its first visits, or of those started by its
// schedule or by Spec.Again. Visits by rules of Spec.Recrawl belong to no run: they count only as
// Recrawls.
type Run struct {
	// Run is when the run was due, Unix seconds. For the first run it is 0, or when an earlier
	// crawl with the name was deleted.
	Run int64 `json:"run"`
	// Started is when it began, Last the time of its last event, and Ended the same once the run
	// has no work left, zero before.
	Started time.Time `json:"started,omitzero"`
	Last    time.Time `json:"last,omitzero"`
	Ended   time.Time `json:"ended,omitzero"`
	// Requests are by class, Records by kind, MaxKinds at most.
	Requests map[messages.Class]int64 `json:"requests,omitempty"`
	Records  map[string]int64         `json:"records,omitempty"`
	// Pages were fetched and passed to the parser: New for the first time, Changed and Same by the
	// digest of their body. Same also counts conditional requests for unchanged pages, which return
	// no page. Gone were found at the visit before, and are not found any more.
	Pages   int64 `json:"pages"`
	New     int64 `json:"new"`
	Changed int64 `json:"changed"`
	Same    int64 `json:"same"`
	Gone    int64 `json:"gone"`
	// Failed are failed visits, including those of Gone and of pages that were gone before.
	Failed    int64 `json:"failed"`
	BytesWire int64 `json:"bytes_wire"`
	BytesBody int64 `json:"bytes_body"`
	// Recrawls are requests for visits planned by rules of Spec.Recrawl, of pages that this run
	// found last.
	Recrawls int64 `json:"recrawls,omitempty"`
}

// Took returns the duration of a run that has ended; 0 if it has not.
func (r *Run) Took() time.Duration {
	if r.Ended.IsZero() {
		return 0
	}
	return r.Ended.Sub(r.Started)
}

// Asked returns the number of requests for pages.
func (r *Run) Asked() (n int64) {
	for class, k := range r.Requests {
		if class.IsPageRequest() {
			n += k
		}
	}
	return n
}

// MaxRuns is how many runs of a crawl are kept; the oldest are dropped first.
const MaxRuns = 100

// Add adds the figures of the run in another partition.
func (r *Run) Add(o *Run) {
	if r.Started.IsZero() || !o.Started.IsZero() && o.Started.Before(r.Started) {
		r.Started = o.Started
	}
	if o.Last.After(r.Last) {
		r.Last = o.Last
	}
	tally.AddAll(&r.Requests, o.Requests)
	for k, n := range o.Records {
		r.AddRecords(k, n)
	}
	r.Pages += o.Pages
	r.New += o.New
	r.Changed += o.Changed
	r.Same += o.Same
	r.Gone += o.Gone
	r.Failed += o.Failed
	r.BytesWire += o.BytesWire
	r.BytesBody += o.BytesBody
	r.Recrawls += o.Recrawls
}

// AddRecords counts records of a kind; kinds beyond messages.MaxKinds count as messages.KindOther.
func (r *Run) AddRecords(kind string, n int64) {
	if _, ok := r.Records[kind]; !ok && len(r.Records) >= messages.MaxKinds-1 {
		kind = messages.KindOther
	}
	tally.Add(&r.Records, kind, n)
}

// Runs returns the figures of the newest runs of a crawl, most and MaxRuns at most, over all
// partitions, the newest first.
func (c Client) Runs(ctx context.Context, crawl string, spec *crawlspec.Spec, most int) ([]Run, error) {
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

// runOver reports whether the latest run has no work left, as far as the partitions know. A
// partition that has not begun the run has work left.
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

// mergeRuns merges the runs of a crawl from all partitions, the newest first.
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

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

// Run are the figures of one run of a crawl, of its first visits or of those that its
// schedule, or Spec.Again, has started. Visits by rules of Spec.Recrawl belong to none:
// they count as Recrawls, and nowhere else.
type Run struct {
	// Run is when the run was due, Unix seconds; the first is 0, or when a crawl of the name was deleted.
	Run int64 `json:"run"`
	// Started is when it began, Last when the last thing of it happened, and CheckEnded the
	// same once nothing of it is left to do; zero if something is.
	Started time.Time `json:"started,omitzero"`
	Last    time.Time `json:"last,omitzero"`
	Ended   time.Time `json:"ended,omitzero"`
	// Requests are by class, Records by kind, MaxKinds at most.
	Requests map[messages.Class]int64 `json:"requests,omitempty"`
	Records  map[string]int64         `json:"records,omitempty"`
	// Pages were fetched and handed to the parser: New for the first time, Changed and
	// Same by the digest of their body. Same are those too that were asked for under a
	// condition, and are unchanged (no page came). Gone were fetched before, were
	// there at the visit before, and are not there any more.
	Pages   int64 `json:"pages"`
	New     int64 `json:"new"`
	Changed int64 `json:"changed"`
	Same    int64 `json:"same"`
	Gone    int64 `json:"gone"`
	// Failed are visits that led nowhere, those of Gone, and of pages that were gone before, among them.
	Failed    int64 `json:"failed"`
	BytesWire int64 `json:"bytes_wire"`
	BytesBody int64 `json:"bytes_body"`
	// Recrawls are requests for visits that rules of Spec.Recrawl planned, of pages that
	// the run found last.
	Recrawls int64 `json:"recrawls,omitempty"`
}

// Took is how long a run took that has ended; 0 of one that has not.
func (r *Run) Took() time.Duration {
	if r.Ended.IsZero() {
		return 0
	}
	return r.Ended.Sub(r.Started)
}

// Asked is how many requests for pages there were.
func (r *Run) Asked() (n int64) {
	for class, k := range r.Requests {
		if class.IsPageRequest() {
			n += k
		}
	}
	return n
}

// MaxRuns is how many runs of a crawl are kept; the oldest go first.
const MaxRuns = 100

// Add adds the figures that another partition has of the run.
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

// AddRecords counts records of a kind; those of kinds beyond messages.MaxKinds count as
// messages.KindOther.
func (r *Run) AddRecords(kind string, n int64) {
	if _, ok := r.Records[kind]; !ok && len(r.Records) >= messages.MaxKinds-1 {
		kind = messages.KindOther
	}
	tally.Add(&r.Records, kind, n)
}

// Runs returns the figures of the newest runs of a crawl, MaxRuns at most, over all
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

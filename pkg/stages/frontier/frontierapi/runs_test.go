package frontierapi

import (
	"cmp"
	"fmt"
	"reflect"
	"testing"
	"time"

	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// The number of kinds is bounded: in the store, and as values of a label.
func TestKindsOfRecordsAreBounded(t *testing.T) {
	var r Run
	for i := range 2 * messages.MaxKinds {
		r.AddRecords(fmt.Sprintf("kind_%d", i), 2)
	}
	if n := r.Records[messages.KindOther]; len(r.Records) != messages.MaxKinds || n != 2*(messages.MaxKinds+1) {
		t.Errorf("%d kinds, %d records of others", len(r.Records), n)
	}
}

// The partitions' figures of a run are merged; the run ends when no partition has any of its work
// left, and all have begun it.
func TestRunEndsWhenNothingOfItIsLeftInAnyPartition(t *testing.T) {
	at := func(s int) time.Time { return time.Unix(1_800_000_000+int64(s), 0).UTC() }
	run := at(0).Unix()
	part := func(c Counters, runs ...Run) PartitionStatus {
		c.Started = cmp.Or(c.Started, at(-100).UnixMilli())
		return PartitionStatus{Counters: c, Runs: runs}
	}
	done := Counters{Done: 5, Run: run}
	one := part(done, Run{Run: 0, Started: at(-100), Last: at(-50), New: 5}, Run{Run: run, Started: at(0), Last: at(9), Same: 5, Records: map[string]int64{"page": 5}})
	two := part(done, Run{Run: run, Started: at(1), Last: at(20), New: 2, Records: map[string]int64{"page": 2, "product": 1}})
	got := mergeRuns([]PartitionStatus{one, two}, MaxRuns)
	want := Run{Run: run, Started: at(0), Last: at(20), Same: 5, New: 2, Records: map[string]int64{"page": 7, "product": 1}}
	if len(got) != 2 || got[1].New != 5 || !reflect.DeepEqual(got[0], want) {
		t.Errorf("together they have %+v, want %+v first", got, want)
	}
	if got := mergeRuns([]PartitionStatus{one, two}, 1); len(got) != 1 || got[0].Run != run {
		t.Errorf("the newest is %+v", got)
	}
	scheduled := &crawlspec.Spec{Schedule: "@every 1h", MaxPages: 100}
	for what, c := range map[string]struct {
		other PartitionStatus
		over  bool
	}{
		"nothing is open":                       {two, true},
		"a URL is queued":                       {part(Counters{Queued: 1, Run: run}), false},
		"a visit was planned by rules":          {part(Counters{Queued: 1, Recrawling: 1, Run: run}), true},
		"a partition has not begun it":          {part(Counters{Done: 1}), false},
		"a partition had nothing when it began": {part(Counters{Done: 1, Started: at(1).UnixMilli()}), true},
		"a partition has no URL":                {part(Counters{}), true},
		"the pages are spent":                   {part(Counters{Queued: 1, Pages: 100, Run: run}), true},
		"seeds are being fed to it":             {PartitionStatus{Counters: done, Reviewing: true}, false},
	} {
		if got := runOver([]PartitionStatus{one, c.other}, run, scheduled); got != c.over {
			t.Errorf("%s: it is over: %v", what, got)
		}
	}
}

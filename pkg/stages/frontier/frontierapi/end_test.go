package frontierapi

import (
	"testing"

	"seine/internal/base/weburl"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// A crawl has not ended while a partition has not begun the run over all URLs that its spec asks
// for: a frontier elsewhere may not know the spec yet.
func TestCrawlHasNotEndedBeforeItIsVisitedAgain(t *testing.T) {
	t.Parallel()
	part := PartitionStatus{Counters: Counters{Done: 1}, Again: 7}
	spec := crawlspec.Default()
	for _, c := range []struct {
		again int64
		state crawlspec.RunState
		want  EndReason
	}{
		{0, crawlspec.Running, Complete},
		{7, crawlspec.Running, Complete},
		{8, crawlspec.Running, NotEnded},
		{8, crawlspec.Cancelled, Complete},
	} {
		spec.Again, spec.State = c.again, c.state
		if end := endOf([]PartitionStatus{part, {}}, &part.Counters, &spec); end != c.want {
			t.Errorf("again %d, %s: end %q, want %q", c.again, c.state, end, c.want)
		}
	}
}

// A crawl counts neither as empty nor as complete before the seeds of its spec are in all their
// partitions.
func TestCrawlIsNotCompleteBeforeItsSeedsAreFed(t *testing.T) {
	spec := crawlspec.Default()
	spec.Seeds = []crawlspec.Seed{{URL: "https://a.test/"}, {URL: "https://b.test/"}}
	l, err := ListSeeds(&spec, weburl.NewNormalizer(spec.NormalizeOptions()))
	if err != nil {
		t.Fatal(err)
	}
	parts := make([]PartitionStatus, 16)
	for i := range spec.Seeds {
		if seedsFed(&spec, parts) {
			t.Errorf("%d of 2 are fed", i)
		}
		parts[messages.Partition(spec.Seeds[i].URL, len(parts))].Seeds = l.Fingerprint
	}
	if !seedsFed(&spec, parts) {
		t.Error("they are not fed")
	}
}

// A crawl that waits for a usable spec has not ended, whatever the states of its URLs.
func TestCrawlThatStandsStillHasNotEnded(t *testing.T) {
	spec := crawlspec.Default()
	if end := endOf([]PartitionStatus{{Counters: Counters{Done: 1}, Stalled: true}, {}}, &Counters{Done: 1}, &spec); end != NotEnded {
		t.Errorf("its end is %q", end)
	}
}

// The newest failure of all partitions is reported while its URL may be retried.
func TestStatusHasTheNewestFailureThatIsRetried(t *testing.T) {
	failed := func(class messages.Class, at int64) *RequestFailure { return &RequestFailure{Class: class, AtMS: at} }
	for name, tt := range map[string]struct {
		parts []PartitionStatus
		want  int64
	}{
		"newest":  {[]PartitionStatus{{Counters: Counters{Waiting: 1}, LastFailure: failed(messages.Timeout, 1)}, {LastFailure: failed(messages.Stalled, 2)}}, 2},
		"final":   {[]PartitionStatus{{Counters: Counters{Queued: 1}, LastFailure: failed(messages.Gone, 1)}}, 0},
		"no work": {[]PartitionStatus{{LastFailure: failed(messages.Timeout, 1)}}, 0},
	} {
		got := int64(0)
		if last := sum(tt.parts).LastFailure; last != nil {
			got = last.AtMS
		}
		if got != tt.want {
			t.Errorf("%s: got the failure of %d, want %d", name, got, tt.want)
		}
	}
}

package state

import (
	"testing"
	"time"

	"seine/pkg/crawlspec"
	"seine/pkg/stages/frontier/frontierapi"
)

// A crawl with an unusable spec is stalled: nothing is sent, nothing is decided for good, and the
// partition has no work for it. When the spec is fixed, it applies to everything that came
// meanwhile.
func TestCrawlWhoseSpecCannotBeUsedStandsStill(t *testing.T) {
	t.Parallel()
	w := newPartitionFixture(t, func(s *crawlspec.Spec) { s.Exclude, s.MaxDepth = []string{"*/private/*"}, new(1) })
	w.seed("https://a.test/1", "https://a.test/2")
	w.wantSent(w.dispatch(1), "https://a.test/1")
	mended := w.current
	w.gen++
	still, err := compile(crawlspec.Revision{Rev: w.gen}.Stall("bad"))
	w.must(err)
	w.current = still
	w.wantSent(w.dispatch(10))
	w.result("https://a.test/1", nil)
	w.link(1, "https://a.test/private/1", "https://a.test/3", "https://b.test/")
	w.link(2, "https://a.test/deep")
	w.parsed("https://a.test/1")
	for range 2 {
		w.restart()
		w.pass(time.Hour)
		w.wantSent(w.dispatch(10))
		w.wantState("https://a.test/2", Queued, "")
		w.wantState("https://a.test/private/1", Queued, "")
		w.wantState("https://b.test/", Queued, "")
		if w.part.TimersPending() {
			t.Error("the partition is busy with a crawl that stands still")
		}
		st, err := w.part.Questions.status("c")
		if err != nil || !st.Stalled || st.Unusable != "bad" {
			t.Errorf("its status is %+v, %v", st, err)
		}
	}
	w.gen++
	mended.Rev, w.current = w.gen, mended
	w.wantSent(w.dispatch(10), "https://a.test/2", "https://a.test/3")
	w.wantState("https://a.test/private/1", Excluded, frontierapi.ReasonExclude)
	w.wantState("https://b.test/", Excluded, frontierapi.ReasonScope)
	w.wantState("https://a.test/deep", Excluded, frontierapi.ReasonDepth)
}

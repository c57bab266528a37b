package state

import (
	"fmt"
	"testing"

	"seine/pkg/crawlspec"
	"seine/pkg/stages/frontier/frontierapi"
)

// The query counts only waiting URLs that an exclude pattern would drop, and drops nothing; the
// spec drops the same URLs then.
func TestWhatAPatternWouldDropIsCounted(t *testing.T) {
	w := newPartitionFixture(t, func(s *crawlspec.Spec) { s.MaxAttempts = 1 })
	for i := range 9 {
		w.seed(fmt.Sprintf("https://a.test/%d?sort=up", i))
	}
	for i := range 4 {
		w.seed(fmt.Sprintf("https://a.test/%d", i))
	}
	w.dispatch(1)
	for pattern, want := range map[string]int64{"*?sort=*": 9, "*": 13, "https://b.test/*": 0} {
		st, err := w.part.Questions.Status(frontierapi.Query{Crawl: "c", Drop: pattern})
		w.must(err)
		d := st.Dropped
		under := st.Counters.InFlight
		if d == nil || d.Waiting != 13-under || d.URLs > want || d.URLs < want-under || d.Partial || int64(len(d.Some)) != min(d.URLs, frontierapi.MaxDropped) {
			t.Errorf("%s: %+v, want %d of %d, less %d under way", pattern, d, want, 13, under)
		}
	}
	if _, err := w.part.Questions.Status(frontierapi.Query{Crawl: "c", Drop: "re:("}); err == nil {
		t.Error("nonsense for a pattern is taken")
	}
}

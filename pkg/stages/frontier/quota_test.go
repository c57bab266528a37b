package frontier

import (
	"testing"

	"seine/pkg/crawlspec"
)

// A budget that was asked for under a spec counts for nothing under the next, and is
// asked for anew when that answer has come, not before.
func TestGrantOfTheSpecBeforeIsPassedOver(t *testing.T) {
	w := newShardFixture(t, func(s *crawlspec.Spec) { s.MaxPages = 1000 })
	p := &partitionLoop{shard: w.shard, f: new(Frontier)}
	w.seed("https://a.test/1", "https://a.test/2")
	w.wantSent(w.dispatch(0))
	c := w.shard.crawl("c")
	before := c.rules.fingerprint
	c.quota.want, c.quota.asked = false, true // it asks
	w.change(func(s *crawlspec.Spec) { s.MaxPages = 10 })
	w.tend()
	if c.rules.fingerprint == before {
		t.Fatal("the rules have not changed")
	}
	if !c.quota.asked {
		t.Error("a second question would be under way with the first")
	}
	p.granted(grant{crawl: "c", print: before, quota: quota{pages: 1000}})
	if c.quota.pages != 0 || c.quota.asked {
		t.Errorf("after the answer to the first question: %+v", c.quota)
	}
	c.quota.asked = true
	p.granted(grant{crawl: "c", print: c.rules.fingerprint, quota: quota{pages: 10}})
	if c.quota.pages != 10 || c.quota.asked {
		t.Errorf("after the answer to the second question: %+v", c.quota)
	}
}

package state

import (
	"fmt"
	"testing"
	"time"

	"seine/pkg/crawlspec"
)

// While renderers have no capacity, hosts whose next page may need a browser wait in line. Other
// hosts continue, and so do pages of the same crawl that need no browser.
func TestHostsWaitInLineForRenderers(t *testing.T) {
	w := newPartitionFixture(t, func(s *crawlspec.Spec) {
		s.SetRender(crawlspec.RenderAlways)
		s.Render.Modes = []crawlspec.RenderRule{{Mode: crawlspec.RenderNever, Match: []string{"**/plain"}}}
	})
	w.seed("https://a.test/", "https://b.test/", "https://c.test/", "https://d.test/plain")
	room := FetchCapacity{Requests: 10, Renders: 1}
	if got := w.sent(room); len(got) != 2 {
		t.Errorf("sent %v, of which one needs a browser and one none", got)
	}
	if taken := w.part.Requests.Taken(); taken != (FetchCapacity{Requests: 2, Renders: 1}) {
		t.Errorf("taken: %+v", taken)
	}
	room.Renders = 0
	w.pass(time.Second)
	if got := w.sent(room); len(got) != 0 {
		t.Errorf("sent %v without room", got)
	}
	if w.sent(room); w.part.HasDue(w.at()) { // the first check finds that nothing is left
		t.Error("hosts in line are looked at without end")
	}
	w.restart()
	if taken := w.part.Requests.Taken(); taken != (FetchCapacity{Requests: 2, Renders: 1}) {
		t.Errorf("taken after a restart: %+v", taken)
	}
	room.Renders = 10
	w.pass(time.Second)
	if got := w.sent(room); len(got) != 2 {
		t.Errorf("sent %v, and two waited", got)
	}
	w.result("https://d.test/plain", nil)
	if taken := w.part.Requests.Taken(); taken != (FetchCapacity{Requests: 3, Renders: 3}) {
		t.Errorf("taken: %+v", taken)
	}
}

// Hosts in line are checked one by one, however many there are, and each gets its turn.
func TestLineForRenderersIsLookedAtSlowly(t *testing.T) {
	w := newPartitionFixture(t, func(s *crawlspec.Spec) { s.SetRender(crawlspec.RenderAuto) })
	var hosts []string
	for n := range 300 {
		hosts = append(hosts, fmt.Sprintf("https://h%d.test/", n))
	}
	w.seed(hosts...)
	w.sent(FetchCapacity{Requests: 1000})
	for range 3 {
		w.pass(time.Duration(300 * renderSlot))
		w.sent(FetchCapacity{Requests: 1000})
		if w.sent(FetchCapacity{Requests: 1000}); w.part.HasDue(w.at()) {
			t.Fatal("hosts are looked at again before their turn")
		}
	}
	w.pass(time.Duration(300 * renderSlot))
	if got := w.sent(FetchCapacity{1000, 1000}); len(got) != len(hosts) {
		t.Errorf("sent %d of %d", len(got), len(hosts))
	}
}

// sent returns the URLs that are sent now with the given capacity.
func (w *partitionFixture) sent(room FetchCapacity) (urls []string) {
	w.t.Helper()
	w.tend()
	reqs, err := w.part.Dispatcher.Next(w.at(), room)
	w.must(err)
	w.must(w.part.Commit(w.at()))
	for _, r := range reqs {
		urls = append(urls, r.URL)
	}
	return urls
}

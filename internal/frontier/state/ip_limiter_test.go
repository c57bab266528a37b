package state

import (
	"testing"
	"time"

	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// byAddress is a crawl by addresses whose hosts all have the same.
func byAddress(t *testing.T) (w *partitionFixture, at func(*messages.Result)) {
	w = newPartitionFixture(t, func(s *crawlspec.Spec) { s.GroupBy, s.Delay = crawlspec.GroupByIP, crawlspec.Duration(time.Second) })
	w.seed("https://a.test/1", "https://a.test/2", "https://a.test/3", "https://b.test/1", "https://b.test/2")
	at = func(r *messages.Result) { r.IP = "192.0.2.1" }
	w.wantSent(w.dispatch(10), "https://a.test/1", "https://b.test/1") // where they are is not known yet
	w.result("https://a.test/1", at)
	w.result("https://b.test/1", at)
	return w, at
}

// serves checks that the address is asked once more by now, and again later.
func (w *partitionFixture) serves(at func(*messages.Result), want int) {
	w.t.Helper()
	sent := 0
	for range 20 {
		w.pass(time.Second)
		for _, url := range w.dispatch(10) {
			w.result(url, at)
			sent++
		}
	}
	if sent != want {
		w.t.Errorf("%d requests were sent to the address, want %d", sent, want)
	}
}

func TestPartitionThatMovesGivesItsAddressesBack(t *testing.T) {
	w, at := byAddress(t)
	w.pass(3 * time.Second)
	sent := w.dispatch(10)
	if len(sent) != 1 {
		t.Fatalf("sent %q, want one of the hosts of the address", sent)
	}
	w.kill() // in the same process, the partition goes and comes back
	w.open()
	w.result(sent[0], at)
	w.serves(at, 2)
}

func TestRequestThatIsTakenOverGivesItsAddressBack(t *testing.T) {
	w, at := byAddress(t)
	w.pass(3 * time.Second)
	sent := w.dispatch(10)
	w.result(sent[0], func(r *messages.Result) { // a former owner had sent it once more
		at(r)
		r.Attempt++
	})
	w.serves(at, 0) // the attempt that is known here may be with a fetcher
	w.pass(messages.ClaimTTL(time.Duration(crawlspec.DefaultTimeout)))
	w.serves(at, 2)
}

func TestAddressRestsWhenAPartitionCame(t *testing.T) {
	w, _ := byAddress(t)
	w.pass(time.Second)
	w.kill()
	w.open() // another process may have asked the address a moment ago
	w.pass(999 * time.Millisecond)
	w.wantSent(w.dispatch(10))
	w.pass(2 * time.Second)
	if sent := w.dispatch(10); len(sent) != 1 {
		t.Errorf("sent %q, want one", sent)
	}
}

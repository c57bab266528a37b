package state

import (
	"testing"
	"time"

	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// byAddress returns a crawl that groups by address, whose hosts all have the same one.
func byAddress(t *testing.T) (w *partitionFixture, at func(*messages.Result)) {
	w = newPartitionFixture(t, func(s *crawlspec.Spec) { s.GroupBy, s.Delay = crawlspec.GroupByIP, crawlspec.Duration(time.Second) })
	w.seed("https://a.test/1", "https://a.test/2", "https://a.test/3", "https://b.test/1", "https://b.test/2")
	at = func(r *messages.Result) { r.IP = "192.0.2.1" }
	w.wantSent(w.dispatch(10), "https://a.test/1", "https://b.test/1") // their addresses are not known yet
	w.result("https://a.test/1", at)
	w.result("https://b.test/1", at)
	return w, at
}

// serves checks that the address gets one more request by now, and another later.
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
	w.kill() // the partition leaves the process and returns to it
	w.open()
	w.result(sent[0], at)
	w.serves(at, 2)
}

func TestRequestThatIsTakenOverGivesItsAddressBack(t *testing.T) {
	w, at := byAddress(t)
	w.pass(3 * time.Second)
	sent := w.dispatch(10)
	w.result(sent[0], func(r *messages.Result) { // a former owner had sent it again
		at(r)
		r.Attempt++
	})
	w.serves(at, 0) // a fetcher may have the attempt known here
	w.pass(messages.ClaimTTL(time.Duration(crawlspec.DefaultTimeout)))
	w.serves(at, 2)
}

func TestAddressRestsWhenAPartitionCame(t *testing.T) {
	w, _ := byAddress(t)
	w.pass(time.Second)
	w.kill()
	w.open() // another process may have sent the address a request a moment ago
	w.pass(999 * time.Millisecond)
	w.wantSent(w.dispatch(10))
	w.pass(2 * time.Second)
	if sent := w.dispatch(10); len(sent) != 1 {
		t.Errorf("sent %q, want one", sent)
	}
}

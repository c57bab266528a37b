package politeness

import (
	"testing"
	"time"
)

// monday is 2024-01-01 00:00 UTC, a Monday.
var monday = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano()

// host is a caller that follows the rules of the package.
type host struct {
	t     *testing.T
	rules Rules
	state State
	now   int64
}

func newHost(t *testing.T, r Rules) *host { return &host{t: t, rules: r, now: monday} }

// sleep lets time pass.
func (h *host) sleep(d time.Duration) { h.now += int64(d) }

// due waits until the next request may start.
func (h *host) due() { h.now = h.state.Earliest(&h.rules, h.now) }

// begin starts requests now.
func (h *host) begin(n int) {
	for range n {
		h.state.Begin(&h.rules, h.now)
	}
}

// end ends a request now.
func (h *host) end(o Outcome) Event { return h.state.End(&h.rules, h.now, o, uint64(h.now)) }

// ask starts a request as soon as allowed, and ends it after o.Took.
func (h *host) ask(o Outcome) Event {
	h.due()
	h.begin(1)
	h.sleep(o.Took)
	return h.end(o)
}

// asks calls ask n times, and returns the last event.
func (h *host) asks(n int, o Outcome) (e Event) {
	for range n {
		e = h.ask(o)
	}
	return e
}

func (h *host) wantWait(want time.Duration, why Phase) {
	h.t.Helper()
	got := time.Duration(h.state.Earliest(&h.rules, h.now) - h.now)
	if phase := h.state.Phase(&h.rules, h.now); got != want || phase != why {
		h.t.Errorf("the host waits %v for %q, want %v for %q", got, phase, want, why)
	}
}

func (h *host) wantLimit(want int) {
	h.t.Helper()
	if got := h.state.Limit(&h.rules); got != want {
		h.t.Errorf("Limit = %d, want %d", got, want)
	}
}

func (h *host) wantGivenUp(want bool) {
	h.t.Helper()
	if got := h.state.Abandoned(&h.rules); got != want {
		h.t.Errorf("GivenUp = %v, want %v", got, want)
	}
}

func wantEvent(t *testing.T, got, want Event) {
	t.Helper()
	if got != want {
		t.Errorf("the event is %q, want %q", got, want)
	}
}

var (
	good      = Outcome{Kind: Good}
	throttled = Outcome{Kind: Throttled}
	failure   = Outcome{Kind: HostFailure}
)

func goodIn(took time.Duration) Outcome { return Outcome{Kind: Good, Took: took} }

func goodWithCrawlDelay(d time.Duration) Outcome { return Outcome{Kind: Good, CrawlDelay: &d} }

func throttledFor(d time.Duration) Outcome { return Outcome{Kind: Throttled, RetryAfter: d} }

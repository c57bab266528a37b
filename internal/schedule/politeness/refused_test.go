package politeness

import (
	"testing"
	"time"
)

var refused = Outcome{Kind: Refused}

// Several refused URLs in a row slow a host down, up to a minute; good responses undo that.
// Refusals between good responses do not slow it down.
func TestRefusedURLsInARowSlowDown(t *testing.T) {
	h := newHost(t, Rules{Delay: time.Second})
	for range 3 {
		h.asks(refusedRow-1, refused)
		h.wantWait(time.Second, Delay)
		h.ask(Outcome{Kind: Good})
	}
	h.asks(refusedRow-1, refused)
	for _, want := range []time.Duration{2, 4, 8, 16, 32, 60, 60} {
		h.ask(refused)
		h.wantWait(want*time.Second, Backoff)
	}
	for n := 0; h.state.Slowed() > 0; n++ {
		if h.ask(Outcome{Kind: Good}); n > 300 {
			t.Fatal("it does not recover")
		}
	}
	h.wantWait(time.Second, Delay)
}

// A host that was slowed down further for another reason stays as slow.
func TestRefusedURLShortensNoSlowdown(t *testing.T) {
	h := newHost(t, Rules{Delay: time.Second})
	h.asks(10, throttled)
	before := h.state.Slowed()
	h.asks(refusedRow+3, refused)
	if h.state.Slowed() != before {
		t.Errorf("slowed by %v, was %v", h.state.Slowed(), before)
	}
}

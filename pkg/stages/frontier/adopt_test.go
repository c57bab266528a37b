package frontier

import (
	"testing"
	"time"

	"seine/pkg/messages"
)

// An owner that took more failures for probes of the host than the next one, which
// reads the results later, has sent an attempt that is none any more by the count of
// that. The request is in FETCH: it is taken over, and its host not asked beside it.
func TestRequestBeyondTheAttemptsOfANewOwnerIsTakenOver(t *testing.T) {
	w := newWorld(t, func(s *messages.Spec) { s.MaxAttempts, s.PerHost = 1, 1 })
	w.seed("https://a.test/x")
	w.wantSent(w.dispatch(10), "https://a.test/x")
	wire, err := w.shard.message(w.shard.inFlight[urlID{"c", messages.HashURL("https://a.test/x")}])
	w.must(err)
	w.answer("https://a.test/x", messages.Timeout)
	w.seed("https://a.test/y")
	w.pass(time.Hour)

	wire.Attempt++
	w.must(w.shard.adoptForeign(wire, w.at()))
	w.must(w.shard.commit(w.at()))
	w.wantSent(w.dispatch(10))
	w.answer("https://a.test/x", messages.OK)
	if state, err := w.shard.stateOf("c"); err != nil || state.Parsing != 1 || state.Failed != 0 {
		t.Errorf("after its page came: %+v, %v", state.Counters, err)
	}
}

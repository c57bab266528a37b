package stages

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"seine/internal/base/bootclock"
	"seine/pkg/messages"
)

func TestProcessThatStoodStillSuspectsWhatItHolds(t *testing.T) {
	var b Bus
	m := &Message{Deliveries: 1, Stored: time.Now()}
	if b.MaybeStale(m) {
		t.Error("suspects a message although nobody keeps its pulse")
	}
	b.pulse.tick()
	if b.MaybeStale(m) {
		t.Error("suspects a message while it runs")
	}
	b.pulse.last.Store(int64(bootclock.Now() - stallThreshold - time.Second))
	if !b.MaybeStale(m) {
		t.Error("does not suspect what was delivered while it stood still")
	}
	b.MarkStale() // as watchStalls does
	b.pulse.tick()
	if !b.MaybeStale(m) {
		t.Error("forgets that it stood still")
	}
	before := time.Now().Add(-time.Minute)
	b.staleBefore.Store(&before)
	if m.Stored = time.Now(); b.MaybeStale(m) {
		t.Error("suspects what was stored long after")
	}
	if m.Stored = time.Now().Add(time.Hour); !b.MaybeStale(m) {
		t.Error("believes a server whose clock is an hour ahead that it was stored after")
	}
}

// What is no answer to the question is none: who took it for a no would drop a request.
func TestErrorIsNoAnswerToWhetherARequestIsWanted(t *testing.T) {
	t.Parallel()
	_, b := open(t)
	b.Layout.Partitions = 1
	answers := []string{`{"error": "cannot decode"}`, `{"behind": true}`, `{"wanted": true}`}
	_, err := b.NC.Subscribe(messages.SubjectFrontier(messages.OpClaim, 0), func(m *nats.Msg) {
		_ = m.Respond([]byte(answers[0]))
		answers = answers[min(1, len(answers)-1):]
	})
	if err != nil {
		t.Fatal(err)
	}
	if wanted, err := b.ClaimRequest(t.Context(), &messages.Request{URL: "https://example.org/"}, "me"); !wanted || err != nil {
		t.Errorf("after an error and a wait it is wanted: %v, %v", wanted, err)
	}
}

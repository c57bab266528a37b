package stages

import (
	"context"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"seine/pkg/messages"
)

// take is a worker that takes messages and dies. The server expects them back in an hour, as one does whose clock
// was an hour ahead when it delivered them.
func take(t *testing.T, b *Bus, config jetstream.ConsumerConfig, n int) {
	t.Helper()
	c, err := b.JS.CreateOrUpdateConsumer(t.Context(), messages.StreamPages, config)
	if err != nil {
		t.Fatal(err)
	}
	batch, err := c.Fetch(n)
	if err != nil {
		t.Fatal(err)
	}
	for m := range batch.Messages() {
		if err := m.NakWithDelay(time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	if err := batch.Error(); err != nil {
		t.Fatal(err)
	}
}

func TestWhatNobodyHoldsIsDeliveredAgain(t *testing.T) {
	t.Parallel()
	br, b := open(t)
	const lost = 5
	send(t, b, pages, lost+1)
	take(t, b, newRunner(b, nil).Consumer, lost)

	var mu sync.Mutex
	deliveries := make(map[uint64]uint64) // the last of each
	slow := make(chan struct{})
	handle := func(_ context.Context, m *Message) (Output, error) {
		mu.Lock()
		deliveries[m.Sequence] = m.Deliveries
		mu.Unlock()
		if m.Sequence == lost+1 { // somebody holds this one, for as long as he likes
			<-slow
		}
		return Output{}, nil
	}
	start(t, newRunner(b, handle).Run)
	other, _ := dial(t, br.url())
	start(t, newRunner(other, handle).Run)
	eventually(t, "what nobody holds is delivered again", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(deliveries) == lost+1 && consumerInfo2(t, b).NumAckPending == 1
	})
	close(slow)
	eventually(t, "all is acknowledged", func() bool { return consumerInfo2(t, b).AckFloor.Stream == lost+1 })
	want := map[uint64]uint64{1: 2, 2: 2, 3: 2, 4: 2, 5: 2, lost + 1: 1}
	mu.Lock()
	defer mu.Unlock()
	if !maps.Equal(deliveries, want) {
		t.Errorf("deliveries by message: %v, want %v", deliveries, want)
	}
}

// A message that takes its worker long is no reason to tell the server anything, though the others are acknowledged.
func TestServerIsToldNothingOfWhatSomebodyHolds(t *testing.T) {
	t.Parallel()
	br, _ := open(t)
	b, log := dial(t, br.url())
	send(t, b, pages, 10)
	slow := make(chan struct{})
	handle := func(_ context.Context, m *Message) (Output, error) {
		if m.Sequence == 1 {
			<-slow
		}
		return Output{}, nil
	}
	r := newRunner(b, handle)
	other, otherLog := dial(t, br.url())
	start(t, r.Run)
	start(t, newRunner(other, handle).Run)
	eventually(t, "all but one are done", func() bool { return consumerInfo2(t, b).NumAckPending == 1 && consumerInfo2(t, b).NumPending == 0 })
	always(t, 6*r.ackWait(), "nobody tells the server", func() bool { return !log.has("no process holds") && !otherLog.has("no process holds") })
	close(slow)
	eventually(t, "all is acknowledged", func() bool { return consumerInfo2(t, b).AckFloor.Stream == 10 })
}

package stages

import (
	"context"
	"maps"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/testing/await"
	"seine/internal/testing/natstest"
	"seine/internal/testing/slow"
	"seine/pkg/messages"
)

// hasty returns a runner whose messages wait at most longest for their next delivery.
func hasty(b *Bus, h Handler, longest time.Duration) *Runner {
	r := newRunner(b, h)
	r.Consumer = hastyConsumer()
	r.wait = longest
	r.Workers = 8 // a blocked message, redelivered on a slow machine, must leave capacity for the others
	return r
}

// hastyConsumer is the consumer of a hasty runner, with a short AckWait.
func hastyConsumer() jetstream.ConsumerConfig {
	c := newRunner(nil, nil).Consumer
	c.AckWait = 2 * time.Second
	return c
}

// take plays a worker that receives messages and dies. The server expects their acknowledgements
// later: an hour stands for a server whose clock was an hour ahead at delivery.
func take(t *testing.T, b *Bus, config jetstream.ConsumerConfig, n int, later time.Duration) {
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
		if err := m.NakWithDelay(later); err != nil {
			t.Fatal(err)
		}
	}
	if err := batch.Error(); err != nil {
		t.Fatal(err)
	}
}

func TestWhatNobodyHoldsIsDeliveredAgain(t *testing.T) {
	slow.Skip(t)
	t.Parallel()
	br, b := open(t)
	const lost = 5
	natstest.Send(t, b.JS, pages, lost+1)
	take(t, b, hastyConsumer(), lost, time.Hour)

	var mu sync.Mutex
	deliveries := make(map[uint64]uint64) // delivery count of each message
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
	await.Start(t, hasty(b, handle, 500*time.Millisecond).Run)
	other, _ := dial(t, br.URL())
	await.Start(t, hasty(other, handle, 500*time.Millisecond).Run)
	await.Eventually(t, "what nobody holds is delivered again", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(deliveries) == lost+1 && consumerInfo2(t, b).NumAckPending == 1
	})
	close(slow)
	await.Eventually(t, "all is acknowledged", func() bool { return consumerInfo2(t, b).AckFloor.Stream == lost+1 })
	want := map[uint64]uint64{1: 2, 2: 2, 3: 2, 4: 2, 5: 2}
	mu.Lock()
	defer mu.Unlock()
	delete(deliveries, lost+1) // it may have been redelivered, if this process stalled for an AckWait
	if !maps.Equal(deliveries, want) {
		t.Errorf("deliveries by message: %v, want %v", deliveries, want)
	}
}

// A message that is held for long causes no reset, even if the others are acknowledged.
func TestServerIsToldNothingOfWhatSomebodyHolds(t *testing.T) {
	t.Parallel()
	br, _ := open(t)
	b, log := dial(t, br.URL())
	natstest.Send(t, b.JS, pages, 10)
	slow := make(chan struct{})
	handle := func(_ context.Context, m *Message) (Output, error) {
		if m.Sequence == 1 {
			<-slow
		}
		return Output{}, nil
	}
	r := hasty(b, handle, time.Millisecond)
	other, otherLog := dial(t, br.URL())
	await.Start(t, r.Run)
	await.Start(t, hasty(other, handle, time.Millisecond).Run)
	await.Eventually(t, "all but one are done", func() bool { return consumerInfo2(t, b).NumAckPending == 1 && consumerInfo2(t, b).NumPending == 0 })
	await.Always(t, 4*r.ackWait(), "nobody tells the server", func() bool { return !log.Has("no process holds") && !otherLog.Has("no process holds") })
	close(slow)
	await.Eventually(t, "all is acknowledged", func() bool { return consumerInfo2(t, b).AckFloor.Stream == 10 })
}

// A delayed message is redelivered when its worker asked for, and no sooner, although nobody holds
// it. Workers remember all messages that they returned, including those after the one that the
// server waits for. For a worker that is gone, the longest delay is assumed.
func TestDelayedMessageIsNotDeliveredSooner(t *testing.T) {
	t.Parallel()
	br, b := open(t)
	const delay = 4 * time.Second
	natstest.Send(t, b.JS, pages, 3)
	taken := time.Now()
	take(t, b, hastyConsumer(), 1, delay)

	var mu sync.Mutex
	deliveries := make(map[uint64][]time.Time)
	handle := func(_ context.Context, m *Message) (Output, error) {
		mu.Lock()
		defer mu.Unlock()
		deliveries[m.Sequence] = append(deliveries[m.Sequence], time.Now())
		if m.Deliveries == 1 {
			return Output{}, context.DeadlineExceeded
		}
		return Output{}, nil
	}
	other, log := dial(t, br.URL())
	await.Start(t, hasty(b, handle, delay).Run)
	await.Start(t, hasty(other, handle, delay).Run)
	await.Eventually(t, "all is acknowledged", func() bool { return consumerInfo2(t, b).AckFloor.Stream == 3 })
	mu.Lock()
	defer mu.Unlock()
	if waited := deliveries[1][0].Sub(taken); waited < delay {
		t.Errorf("what a worker that is gone gave back for %v was delivered after %v", delay, waited)
	}
	for _, seq := range []uint64{2, 3} {
		if d := deliveries[seq]; len(d) != 2 || d[1].Sub(d[0]) < delay {
			t.Errorf("message %d was delivered at %v, the delay is %v", seq, d, delay)
		}
	}
	if log.Has("no process holds") {
		t.Error("a clock is blamed for it")
	}
}

func TestStuckDetector_Queried_Answers(t *testing.T) {
	t.Parallel()
	_, b := open(t)
	c := &stuckDetector{Runner: hasty(b, nil, time.Minute), id: "me"}
	c.delays.add(7, time.Minute)
	stop, err := c.startReplies()
	if err != nil {
		t.Fatal(err)
	}
	m, err := b.NC.Request(messages.SubjectInFlight(c.Consumer.Durable), []byte("1"), time.Minute)
	if err != nil || string(m.Data) != `{"process":"me","holds":false,"delayed":[7]}` {
		t.Errorf("%v, %v", m, err)
	}
	stop()
	if n := b.NC.NumSubscriptions(); n != 1 { // that of the answers to requests
		t.Errorf("%d subscriptions are left", n)
	}
}

func TestStuckDetector_OtherWorker_Queried(t *testing.T) {
	t.Parallel()
	br, b := open(t)
	other, _ := dial(t, br.URL())
	c := &stuckDetector{Runner: hasty(b, nil, time.Minute), id: "me"}
	_, err := other.NC.Subscribe(messages.SubjectInFlight(c.Consumer.Durable), func(m *nats.Msg) {
		_ = m.Respond([]byte(`{"process": "other", "holds": ` + strconv.FormatBool(string(m.Data) == "5") + `}`))
	})
	if err == nil {
		err = other.NC.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	for seq, want := range map[uint64]bool{5: true, 6: false} {
		if held, _, err := c.queryHolders(t.Context(), seq); held != want || err != nil {
			t.Errorf("message %d: held %v, %v; want %v", seq, held, err, want)
		}
	}
}

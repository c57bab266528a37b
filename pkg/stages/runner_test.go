package stages

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/testing/await"
	"seine/internal/testing/natstest"
	"seine/internal/testing/slow"
	"seine/pkg/messages"
)

const pages, records, urls = "seine.pages.c.0", "seine.records.c.0", "seine.urls.c.0"

// newRunner returns a parser for the test with quick redelivery.
func newRunner(b *Bus, h Handler) *Runner {
	c := messages.WorkConsumer(messages.ConsumerParse, "", 100)
	c.AckWait = 10 * time.Second // a machine under load may stall for seconds: nothing is redelivered unless the test wants it
	return &Runner{
		Stage: messages.StageParser, Bus: b, Stream: messages.StreamPages, Consumer: c,
		Workers: 2, Prefetch: 2, Handle: h, Drain: await.Patience,
	}
}

// tally counts messages by name.
type tally struct {
	mu sync.Mutex
	n  map[string]int
}

func (t *tally) add(k string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.n == nil {
		t.n = make(map[string]int)
	}
	t.n[k]++
	return t.n[k]
}

func (t *tally) total() (n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, k := range t.n {
		n += k
	}
	return n
}

func (t *tally) distinct() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.n)
}

func TestRunnerStoresBeforeAck(t *testing.T) {
	t.Parallel()
	_, b := open(t)
	natstest.Limit(t, b.JS, messages.StreamRecords, 1)
	natstest.Send(t, b.JS, pages, 1)
	r := newRunner(b, func(context.Context, *Message) (Output, error) {
		return Output{
			First: []*nats.Msg{msg(records, "a", "a"), msg("seine.records.c.1", "b", "b")},
			Then:  []*nats.Msg{msg(urls, "c", "c")},
		}, nil
	})
	await.Start(t, r.Run)
	await.Eventually(t, "one record is stored", func() bool { return natstest.State(t, b.JS, messages.StreamRecords).Msgs == 1 })
	await.Always(t, 200*time.Millisecond, "Then waits until all of First is stored", func() bool {
		return natstest.State(t, b.JS, messages.StreamURLs).Msgs == 0
	})
	if c := natstest.ConsumerInfo(t, b.JS, messages.StreamPages, messages.ConsumerParse); c.AckFloor.Stream != 0 || c.NumAckPending != 1 {
		t.Errorf("acknowledged before its output was stored: %+v", c.AckFloor)
	}
	natstest.Limit(t, b.JS, messages.StreamRecords, 2)
	await.Eventually(t, "the page is acknowledged", func() bool {
		return natstest.ConsumerInfo(t, b.JS, messages.StreamPages, messages.ConsumerParse).AckFloor.Stream == 1
	})
	if got := natstest.Stored(t, b.JS, messages.StreamURLs); !slices.Equal(got, []string{"c"}) {
		t.Errorf("URLS holds %q", got)
	}
}

func TestRunnerTransient(t *testing.T) {
	t.Parallel()
	_, b := open(t)
	natstest.Send(t, b.JS, pages, 1)
	const wait = 300 * time.Millisecond
	var mu sync.Mutex
	var at []time.Time
	var deliveries []uint64
	r := newRunner(b, func(_ context.Context, m *Message) (Output, error) {
		mu.Lock()
		defer mu.Unlock()
		at, deliveries = append(at, time.Now()), append(deliveries, m.Deliveries)
		if len(at) < 3 {
			return Output{}, errors.New("not now")
		}
		return Output{}, nil
	})
	r.wait = wait
	await.Start(t, r.Run)
	await.Eventually(t, "it succeeds", func() bool {
		return consumerInfo2(t, b).AckFloor.Stream == 1
	})
	mu.Lock()
	defer mu.Unlock()
	if !slices.Equal(deliveries, []uint64{1, 2, 3}) {
		t.Fatalf("deliveries %v", deliveries)
	}
	for i, next := range at[1:] {
		if d := next.Sub(at[i]); d < wait {
			t.Errorf("delivered again after %s, not %s", d, wait)
		}
	}
	if st := natstest.State(t, b.JS, messages.StreamDead); st.Msgs != 0 {
		t.Error("there is a dead letter")
	}
}

// consumerInfo2 is consumerInfo of the parser, which the runner may not have created yet.
func consumerInfo2(t *testing.T, b *Bus) *jetstream.ConsumerInfo {
	t.Helper()
	c, err := b.JS.Consumer(t.Context(), messages.StreamPages, messages.ConsumerParse)
	if errors.Is(err, jetstream.ErrConsumerNotFound) {
		return new(jetstream.ConsumerInfo)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c.CachedInfo()
}

func TestRunnerDeadLetters(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		handle Handler
		tries  int
		reason string
	}{
		{"poison", func(context.Context, *Message) (Output, error) {
			return Output{}, PoisonError(errors.New("no page at all"))
		}, 1, "no page at all"},
		{"panic", func(context.Context, *Message) (Output, error) {
			panic("index out of range")
		}, 1, "handler panicked: index out of range"},
		{"last delivery", func(context.Context, *Message) (Output, error) {
			return Output{}, errors.New("still not")
		}, messages.MaxDeliver, "still not"},
		{"unpublishable output", func(context.Context, *Message) (Output, error) {
			return Output{First: []*nats.Msg{msg(records, "", strings.Repeat("x", 2<<20))}}, nil
		}, 1, "message cannot be published"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, b := open(t)
			in := msg(pages, "the-id", "body")
			in.Header["X-Several"] = []string{"a", "b"}
			if _, err := b.JS.PublishMsg(t.Context(), in); err != nil {
				t.Fatal(err)
			}
			r := newRunner(b, tt.handle)
			r.wait = time.Millisecond
			r.OnDeadLetter = func(m *Message, why error) Output {
				return Output{First: []*nats.Msg{msg(records, "", "first")}, Then: []*nats.Msg{msg(urls, "", "closed "+string(m.Data))}}
			}
			await.Start(t, r.Run)
			await.Eventually(t, "it is let go", func() bool { return consumerInfo2(t, b).AckFloor.Stream == 1 })
			m, err := natstest.StreamOf(t, b.JS, messages.StreamDead).GetMsg(t.Context(), 1)
			if err != nil {
				t.Fatal(err)
			}
			if m.Subject != "seine.dead.parser.c" || string(m.Data) != "body" || !slices.Equal(m.Header["X-Several"], []string{"a", "b"}) {
				t.Errorf("dead letter %q on %s with %v", m.Data, m.Subject, m.Header)
			}
			for k, want := range map[string]string{
				messages.HeaderDeadStage: "parser", messages.HeaderDeadSubject: pages, messages.HeaderDeadStream: "PAGES",
				messages.HeaderDeadSequence: "1", messages.HeaderDeadTries: fmt.Sprint(tt.tries), messages.HeaderDeadID: "the-id",
			} {
				if got := m.Header.Get(k); got != want {
					t.Errorf("%s: %q, want %q", k, got, want)
				}
			}
			if got := m.Header.Get(messages.HeaderDeadReason); !strings.HasPrefix(got, tt.reason) {
				t.Errorf("reason %q", got)
			}
			if at, err := time.Parse(time.RFC3339Nano, m.Header.Get(messages.HeaderDeadTime)); err != nil || time.Since(at).Abs() > time.Minute {
				t.Errorf("time %v, %v", at, err)
			}
			if got := natstest.Stored(t, b.JS, messages.StreamURLs); !slices.Equal(got, []string{"closed body"}) {
				t.Errorf("what goes with a dead letter was published as %q", got)
			}
			if n := natstest.State(t, b.JS, messages.StreamDead).Msgs; n != 1 {
				t.Errorf("%d dead letters", n)
			}
		})
	}
}

// A message is not at fault if servers are unavailable: it is kept as long as they are, and longer
// than one that fails.
func TestRunnerWaitsForServersThatAreAway(t *testing.T) {
	t.Parallel()
	_, b := open(t)
	natstest.Send(t, b.JS, pages, 1)
	var calls atomic.Int64
	r := newRunner(b, func(context.Context, *Message) (Output, error) {
		if calls.Add(1) <= 2*messages.MaxDeliver {
			return Output{}, fmt.Errorf("read body: %w", nats.ErrNoResponders)
		}
		return Output{}, nil
	})
	r.wait = time.Millisecond
	await.Start(t, r.Run)
	await.Eventually(t, "it is done", func() bool { return consumerInfo2(t, b).AckFloor.Stream == 1 })
	if n := natstest.State(t, b.JS, messages.StreamDead).Msgs; n != 0 || calls.Load() != 2*messages.MaxDeliver+1 {
		t.Errorf("%d dead letters after %d tries", n, calls.Load())
	}
	total := time.Duration(0)
	for n := uint64(1); n <= messages.MaxCrashes; n++ {
		wait, ok := retryAfter(nats.ErrNoResponders, n)
		if total += wait; !ok {
			t.Errorf("given up after %d tries", n)
		}
	}
	if total < 40*time.Minute {
		t.Errorf("it is kept for %s in all", total)
	}
}

// A message that kills every process that handles it must end without another attempt.
func TestRunnerDeliveredTooOften(t *testing.T) {
	t.Parallel()
	_, b := open(t)
	natstest.Send(t, b.JS, pages, 1)
	var calls atomic.Int64
	r := newRunner(b, func(context.Context, *Message) (Output, error) { calls.Add(1); return Output{}, nil })
	c, err := b.JS.CreateConsumer(t.Context(), messages.StreamPages, r.Consumer)
	if err != nil {
		t.Fatal(err)
	}
	for range messages.MaxCrashes {
		m, err := c.Next(jetstream.FetchMaxWait(await.Patience))
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Nak(); err != nil {
			t.Fatal(err)
		}
	}
	await.Start(t, r.Run)
	await.Eventually(t, "it is dead", func() bool { return natstest.State(t, b.JS, messages.StreamDead).Msgs == 1 })
	if calls.Load() != 0 {
		t.Error("it was tried once more")
	}
}

// A dead letter larger than NATS accepts must not make its message return again and again.
func TestRunnerDeadLetterTooLarge(t *testing.T) {
	t.Parallel()
	_, b := open(t)
	if _, err := b.JS.Publish(t.Context(), pages, make([]byte, 1<<20)); err != nil { // max_payload
		t.Fatal(err)
	}
	r := newRunner(b, func(context.Context, *Message) (Output, error) { return Output{}, PoisonError(errors.New("bad")) })
	await.Start(t, r.Run)
	await.Eventually(t, "it is let go", func() bool { return consumerInfo2(t, b).AckFloor.Stream == 1 })
	m, err := natstest.StreamOf(t, b.JS, messages.StreamDead).GetMsg(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Header.Get(messages.HeaderDeadReason); !strings.HasPrefix(got, "bad") || m.Header.Get(messages.HeaderDeadSequence) != "1" || len(m.Data) != briefPayload {
		t.Errorf("dead letter of %d bytes, reason %q", len(m.Data), got)
	}
}

func TestRunnerFullOutput(t *testing.T) {
	t.Parallel()
	_, b := open(t)
	b.Unbatched = true // otherwise a message may contain the records of both workers
	const n, room = 20, 3
	natstest.Limit(t, b.JS, messages.StreamRecords, room)
	natstest.Send(t, b.JS, pages, n)
	var handled tally
	r := newRunner(b, func(_ context.Context, m *Message) (Output, error) {
		handled.add(string(m.Data))
		return Output{First: []*nats.Msg{msg(records, "", string(m.Data))}}, nil // no identity: a repeat would show
	})
	r.Consumer.AckWait = 2 * time.Second
	await.Start(t, r.Run)
	await.Eventually(t, "the stream is full and both workers have one more", func() bool {
		return natstest.State(t, b.JS, messages.StreamRecords).Msgs == room && handled.total() == room+r.Workers
	})
	// Three times the AckWait: held messages must not be redelivered.
	await.Always(t, 3*r.Consumer.AckWait, "no more is taken than can be held, and it is kept alive", func() bool {
		c := consumerInfo2(t, b)
		return c.NumAckPending <= r.Workers+r.Prefetch && c.NumRedelivered == 0 && handled.total() <= room+r.Workers
	})
	var got []string
	await.Eventually(t, "all have come through", func() bool {
		got = append(got, natstest.Stored(t, b.JS, messages.StreamRecords)...)
		last := natstest.State(t, b.JS, messages.StreamRecords)
		if last.Msgs > 0 {
			// Purge only messages that were read: others may be stored meanwhile.
			if err := natstest.StreamOf(t, b.JS, messages.StreamRecords).Purge(t.Context(), jetstream.WithPurgeSequence(uint64(len(got))+1)); err != nil {
				t.Fatal(err)
			}
		}
		return len(got) >= n && consumerInfo2(t, b).AckFloor.Stream == n
	})
	slices.Sort(got)
	if len(slices.Compact(slices.Clone(got))) != n || len(got) != n || handled.total() != n {
		t.Errorf("handled %d times, stored %q", handled.total(), got)
	}
}

func TestRunnerDrain(t *testing.T) {
	t.Parallel()
	_, b := open(t)
	natstest.Send(t, b.JS, pages, 4)
	started, finish := make(chan string, 4), make(chan struct{})
	r := newRunner(b, func(_ context.Context, m *Message) (Output, error) {
		started <- string(m.Data)
		<-finish
		return Output{First: []*nats.Msg{msg(records, "", string(m.Data))}}, nil
	})
	r.Workers, r.Prefetch = 1, 3
	r.Consumer.AckWait = time.Hour
	j := await.Start(t, r.Run)
	first := <-started
	await.Eventually(t, "the others wait in memory", func() bool { return consumerInfo2(t, b).NumAckPending == 4 })
	j.Stop()
	close(finish)
	if err := j.Wait(); err != nil {
		t.Fatal(err)
	}
	if got := natstest.Stored(t, b.JS, messages.StreamRecords); !slices.Equal(got, []string{first}) {
		t.Errorf("finished %q, held %q", got, first)
	}
	others(t, b, 3)
}

// A slot that is freed during shutdown must not cause another request, whose message nobody would
// handle.
func TestRunnerAsksForNothingAtTheEnd(t *testing.T) {
	t.Parallel()
	ended, end := context.WithCancel(t.Context())
	end()
	for range 100 {
		r := Runner{slots: make(chan struct{}, 4)}
		if n := r.acquireSlots(ended); n != 0 || len(r.slots) != 0 {
			t.Fatalf("claimed %d, %d slots are taken", n, len(r.slots))
		}
	}
}

// A process that was frozen may find that an input is gone, because another process has handled its
// message.
func TestRunnerBuriesNothingThatAnotherHasDone(t *testing.T) {
	t.Parallel()
	_, b := open(t)
	natstest.Send(t, b.JS, pages, 2)
	r := newRunner(b, func(_ context.Context, m *Message) (Output, error) {
		if m.Sequence == 1 {
			if err := b.NC.Publish(fmt.Sprintf("$JS.ACK.%s.%s.1.1.1.0.0", messages.StreamPages, messages.ConsumerParse), []byte(ack)); err != nil {
				return Output{}, err
			}
			await.Eventually(t, "the other has done it", func() bool { return consumerInfo2(t, b).AckFloor.Stream >= 1 })
		}
		return Output{}, PoisonError(errors.New("what it needs is gone"))
	})
	j := await.Start(t, r.Run)
	await.Eventually(t, "both are done", func() bool { return consumerInfo2(t, b).AckFloor.Stream == 2 })
	if err := j.End(); err != nil {
		t.Fatal(err)
	}
	if n := natstest.State(t, b.JS, messages.StreamDead).Msgs; n != 1 { // of the one that nobody has done
		t.Errorf("%d dead letters", n)
	}
}

// others checks that n messages are redelivered without waiting for AckWait.
func others(t *testing.T, b *Bus, n int) {
	t.Helper()
	c, err := b.JS.Consumer(t.Context(), messages.StreamPages, messages.ConsumerParse)
	if err != nil {
		t.Fatal(err)
	}
	batch, err := c.Fetch(n, jetstream.FetchMaxWait(await.Patience))
	if err != nil {
		t.Fatal(err)
	}
	got := 0
	for m := range batch.Messages() {
		if md, err := m.Metadata(); err != nil || md.NumDelivered != 2 {
			t.Errorf("%+v, %v", md, err)
		}
		got++
	}
	if got != n {
		t.Errorf("%d of %d were given back", got, n)
	}
}

// The resources of an output are freed once, whether it could be published or not, and not before.
func TestRunnerFreesEachOutput(t *testing.T) {
	t.Parallel()
	_, b := open(t)
	natstest.Limit(t, b.JS, messages.StreamRecords, 1)
	natstest.Send(t, b.JS, records, 1) // full
	natstest.Send(t, b.JS, pages, 2)
	var freed tally
	r := newRunner(b, func(_ context.Context, m *Message) (Output, error) {
		out := Output{Free: func() { freed.add(string(m.Data)) }}
		if string(m.Data) == "0" {
			out.First = []*nats.Msg{msg(records, "", "x")}
		}
		return out, nil
	})
	r.Consumer.AckWait, r.Drain = messages.AckWait, 100*time.Millisecond
	j := await.Start(t, r.Run)
	await.Eventually(t, "one is done", func() bool { return consumerInfo2(t, b).NumAckPending == 1 && freed.total() == 1 })
	if freed.distinct() != 1 || freed.add("1") != 2 {
		t.Error("the one that waits to be published was freed")
	}
	if err := j.End(); err != nil { // which cuts it
		t.Fatal(err)
	}
	if freed.add("0") != 2 {
		t.Error("the one that was cut was not freed")
	}
}

func TestRunnerDrainDeadline(t *testing.T) {
	t.Parallel()
	_, b := open(t)
	natstest.Limit(t, b.JS, messages.StreamRecords, 1)
	natstest.Send(t, b.JS, records, 1) // full
	natstest.Send(t, b.JS, pages, 3)
	started := make(chan struct{}, 3)
	r := newRunner(b, func(ctx context.Context, m *Message) (Output, error) {
		started <- struct{}{}
		if string(m.Data) == "0" { // cut in the handler, the other one while it publishes
			<-ctx.Done()
			return Output{}, ctx.Err()
		}
		return Output{First: []*nats.Msg{msg(records, "", "x")}}, nil
	})
	r.Consumer.AckWait = time.Hour
	r.Drain = 200 * time.Millisecond
	j := await.Start(t, r.Run)
	<-started
	<-started
	await.Eventually(t, "all are taken", func() bool { return consumerInfo2(t, b).NumAckPending == 3 })
	began := time.Now()
	if err := j.End(); err != nil {
		t.Fatal(err)
	}
	if d := time.Since(began); d < r.Drain {
		t.Errorf("took %s to drain, allowed %s", d, r.Drain)
	}
	others(t, b, 3)
}

func TestRunnerBrokerRestart(t *testing.T) {
	slow.Skip(t)
	t.Parallel()
	br, b := open(t)
	const n = 200
	natstest.Send(t, b.JS, pages, n)
	var handled tally
	half := make(chan struct{})
	r := newRunner(b, func(_ context.Context, m *Message) (Output, error) {
		if handled.add(string(m.Data)); handled.total() == n/2 {
			close(half)
		}
		return Output{First: []*nats.Msg{msg(records, "id-"+string(m.Data), string(m.Data))}}, nil
	})
	r.Workers, r.Prefetch = 4, 4
	j := await.Start(t, r.Run)
	<-half
	br.Stop()
	br.Start()
	b2, _ := dial(t, br.URL())
	await.Eventually(t, "all are acknowledged", func() bool { return consumerInfo2(t, b2).AckFloor.Stream == n })
	// A page that is handled again yields the same record, which readers recognise by its identity:
	// JetStream knows only the identity of the batch.
	got := natstest.Stored(t, b2.JS, messages.StreamRecords)
	slices.Sort(got)
	if got = slices.Compact(got); handled.distinct() != n || len(got) != n {
		t.Errorf("%d of %d handled, %d records", handled.distinct(), n, len(got))
	}
	if err := j.End(); err != nil {
		t.Error(err)
	}
}

// The runner waits for a missing stream or consumer.
func TestRunnerConsumerDeleted(t *testing.T) {
	t.Parallel()
	_, b := open(t)
	var handled tally
	r := newRunner(b, func(_ context.Context, m *Message) (Output, error) { handled.add(string(m.Data)); return Output{}, nil })
	await.Start(t, r.Run)
	natstest.Send(t, b.JS, pages, 1)
	await.Eventually(t, "the first is done", func() bool { return consumerInfo2(t, b).AckFloor.Stream == 1 })
	if err := b.JS.DeleteConsumer(t.Context(), messages.StreamPages, messages.ConsumerParse); err != nil {
		t.Fatal(err)
	}
	if _, err := b.JS.Publish(t.Context(), pages, []byte("second")); err != nil {
		t.Fatal(err)
	}
	await.Eventually(t, "the second is done", func() bool { return consumerInfo2(t, b).AckFloor.Stream == 2 })
}

func TestIsPoison(t *testing.T) {
	base := errors.New("x")
	for _, tt := range []struct {
		err  error
		want bool
	}{
		{nil, false}, {base, false}, {fmt.Errorf("wrapped: %w", base), false},
		{PoisonError(base), true}, {fmt.Errorf("wrapped: %w", PoisonError(base)), true}, {errors.Join(base, PoisonError(base)), true},
	} {
		if got := IsPoison(tt.err); got != tt.want || tt.err != nil && !errors.Is(tt.err, base) {
			t.Errorf("%v: poison %v", tt.err, got)
		}
	}
}

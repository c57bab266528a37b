package stages

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"seine/internal/testing/await"
	"seine/internal/testing/natstest"
	"seine/pkg/messages"
)

// reading is a parser that records which messages of PAGES it has handled.
type reading struct {
	mu      sync.Mutex
	handled map[uint64]int
	stop    func()
}

func read(t *testing.T, b *Bus) *reading {
	t.Helper()
	consumer, _ := messages.NamedConsumer(messages.StreamPages, messages.ConsumerParse)
	p, ended := &reading{handled: make(map[uint64]int)}, make(chan error, 1)
	r := &Runner{
		Stage: messages.StageParser, Bus: b, Stream: messages.StreamPages, Consumer: consumer, Workers: 4, Drain: time.Second,
		Handle: func(_ context.Context, m *Message) (Output, error) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.handled[m.Sequence]++
			return Output{}, nil
		},
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() { ended <- r.Run(ctx) }()
	p.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(p.stop)
	return p
}

func (r *reading) has(from, to uint64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for seq := from; seq <= to; seq++ {
		if r.handled[seq] == 0 {
			return false
		}
	}
	return true
}

// A consumer that is deleted by a user continues after its acknowledged messages, whether or not a
// process of its stage runs at that time. The consumer of a deleted stream begins at the start of
// the new one.
func TestDeletedConsumerContinues(t *testing.T) {
	t.Parallel()
	for _, running := range []bool{true, false} {
		t.Run(fmt.Sprint("running ", running), func(t *testing.T) {
			t.Parallel()
			_, b := open(t)
			b.CheckEvery = 10 * time.Millisecond
			first := read(t, b)
			natstest.Send(t, b.JS, "seine.pages.c.0", 20)
			key := messages.KeyPosition(messages.StreamPages, messages.ConsumerParse)
			await.Eventually(t, "it is noted that all is acknowledged", func() bool {
				text, _, err := b.ReadKey(t.Context(), messages.BucketMeta, key)
				return err == nil && first.has(1, 20) && strings.Contains(string(text), `"acked":20`)
			})
			if !running {
				first.stop()
			}
			if err := b.JS.DeleteConsumer(t.Context(), messages.StreamPages, messages.ConsumerParse); err != nil {
				t.Fatal(err)
			}
			first.stop()
			second := read(t, b)
			natstest.Send(t, b.JS, "seine.pages.c.1", 5)
			await.Eventually(t, "what is new is handled", func() bool { return second.has(21, 25) })
			if second.has(1, 1) || second.has(20, 20) {
				t.Errorf("handled again: %v", second.handled)
			}

			second.stop()
			if err := b.JS.DeleteStream(t.Context(), messages.StreamPages); err != nil {
				t.Fatal(err)
			}
			if err := b.Provision(t.Context(), 4, messages.DefaultStreamLimits(), 1); err != nil {
				t.Fatal(err)
			}
			natstest.Send(t, b.JS, "seine.pages.c.2", 5)
			third := read(t, b)
			await.Eventually(t, "all of the new stream is handled", func() bool { return third.has(1, 5) })
		})
	}
}

package stages

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/nats-io/nats.go"

	"seine/internal/base/tracing"
	"seine/pkg/messages"
)

// batcher joins small messages of one subject that arrive while an earlier one is in flight, like
// the group commit of databases. A message is sent at once if its subject has none in flight. The
// faster messages arrive, the more of them share the server's cost of one message.
type batcher struct {
	pub *Publisher
	mu  sync.Mutex
	// waiting are the queued messages by subject. A subject is a key while one of its messages is
	// in flight.
	waiting map[string][]*batched
}

// batched is a message that is queued in a batcher.
type batched struct {
	*nats.Msg
	done chan struct{} // closed once err is known
	err  error
}

// maxBatchedMsg bounds a message of a batch in bytes: batching a larger one saves little.
const maxBatchedMsg = 64 << 10

// takes reports whether m may be batched. Its stream's readers must accept batches. It must be a
// single line and not traced, since a batch has one trace.
func (b *batcher) takes(m *nats.Msg) bool {
	if b.pub.bus.Unbatched || len(m.Data) > maxBatchedMsg || m.Header.Get(tracing.Header) != "" || m.Header.Get(messages.HeaderBatch) != "" {
		return false
	}
	for _, kind := range []string{"seine.results.", "seine.urls.", "seine.redirects.", "seine.seeded.", "seine.records."} {
		if strings.HasPrefix(m.Subject, kind) {
			return len(m.Data) > 0 && bytes.IndexByte(m.Data, '\n') < 0
		}
	}
	return false
}

// join queues m behind the in-flight message of its subject. If none is in flight it returns nil:
// the caller then sends m itself, and m is in flight until the caller calls passOn.
func (b *batcher) join(m *nats.Msg) *batched {
	b.mu.Lock()
	defer b.mu.Unlock()
	waiting, busy := b.waiting[m.Subject]
	if !busy {
		if b.waiting == nil {
			b.waiting = make(map[string][]*batched)
		}
		b.waiting[m.Subject] = nil
		return nil
	}
	item := &batched{Msg: m, done: make(chan struct{})}
	b.waiting[m.Subject] = append(waiting, item)
	return item
}

// passOn sends the messages queued behind one of the subject that is no longer in flight.
func (b *batcher) passOn(subject string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.waiting[subject]) == 0 {
		delete(b.waiting, subject)
		return
	}
	go b.run(subject)
}

// run sends the queue of a subject until it is empty or the Bus is closed. It may outlive the
// callers that queued the messages: their work is then repeated, and its outputs have the same
// identity.
func (b *batcher) run(subject string) {
	for items := b.next(subject); items != nil; items = b.next(subject) {
		err := b.send(items)
		for _, item := range items {
			if errors.Is(err, ErrUnpublishable) && len(items) > 1 { // perhaps only the batch is too large
				item.err = b.send([]*batched{item})
			} else {
				item.err = err
			}
			close(item.done)
		}
	}
}

// next dequeues the next batch of a subject: the first message and those after it that fit.
func (b *batcher) next(subject string) []*batched {
	b.mu.Lock()
	defer b.mu.Unlock()
	waiting := b.waiting[subject]
	if len(waiting) == 0 {
		delete(b.waiting, subject)
		return nil
	}
	n, size := 1, len(waiting[0].Data)
	most := messages.BatchBytes(b.pub.js.Conn().MaxPayload())
	for n < min(len(waiting), messages.MaxBatch) && messages.BatchesWith(waiting[0].Msg, waiting[n].Msg) {
		if size += len(waiting[n].Data) + 1; size > most {
			break
		}
		n++
	}
	b.waiting[subject] = waiting[n:]
	return waiting[:n]
}

func (b *batcher) send(items []*batched) error {
	m := items[0].Msg
	if len(items) > 1 {
		msgs := make([]*nats.Msg, len(items))
		for i, item := range items {
			msgs[i] = item.Msg
		}
		m = messages.JoinBatch(msgs)
	}
	_, err := b.pub.PublishSequenced(b.pub.bus.open, []*nats.Msg{m})
	return err
}

// awaitStored waits until all items are stored.
func awaitStored(ctx context.Context, items []*batched) error {
	for _, item := range items {
		select {
		case <-item.done:
			if item.err != nil {
				return item.err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

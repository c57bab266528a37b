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

// batcher joins small messages of one subject that come while an earlier one of it is on its way, as databases
// commit transactions in groups. A message of a subject with none on its way is sent at once;
// the faster messages come, the more of them share what the server does for one.
type batcher struct {
	pub *Publisher
	mu  sync.Mutex
	// waiting are the messages to be sent next, by subject. A subject is in it while one of its messages is on its way.
	waiting map[string][]*batched
}

// batched is a message that a batcher has taken.
type batched struct {
	*nats.Msg
	done chan struct{} // closed once err is known
	err  error
}

// maxBatchedMsg bounds a message of a batch in bytes: a larger one saves little by company.
const maxBatchedMsg = 64 << 10

// takes reports whether m may be in a batch: it is of a stream whose readers take batches, one line, and not traced,
// since a batch has one trace.
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

// join has m wait for the message of its subject that is on its way. Without one it returns nil: then the caller sends m
// itself, which then is the one on its way, until the caller calls passOn.
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

// passOn has what came behind a message of the subject sent, now that the message is on its way no longer.
func (b *batcher) passOn(subject string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.waiting[subject]) == 0 {
		delete(b.waiting, subject)
		return
	}
	go b.run(subject)
}

// run sends what waits for a subject until nothing does, or the Bus is closed. It outlives those who have added the
// messages: what they are about is done again then, and has the same identity.
func (b *batcher) run(subject string) {
	for items := b.next(subject); items != nil; items = b.next(subject) {
		err := b.send(items)
		for _, item := range items {
			if errors.Is(err, ErrUnpublishable) && len(items) > 1 { // perhaps together alone
				item.err = b.send([]*batched{item})
			} else {
				item.err = err
			}
			close(item.done)
		}
	}
}

// next takes what is sent next for a subject: the first message that waits, and those behind it that fit.
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

package replay

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"seine/pkg/messages"
)

// batchMessages, batchBytes and batchTime bound what is made before it is stored.
const (
	batchMessages = 64
	batchBytes    = 4 << 20
	batchTime     = 200 * time.Millisecond
)

// streamCopier stores what is made of the messages that are chosen, in their order.
type streamCopier struct {
	from   *replayStream
	window seqRange
	to     store
	// workers is how many messages are worked on at a time.
	workers int
	// prepare returns how the output of a message is made, nil for one that is not chosen. It is called for one message at a time.
	prepare func(context.Context, jetstream.Msg, *jetstream.MsgMetadata) (maker, error)

	began int64                        // pages or records that earlier runs have chosen
	place atomic.Pointer[copyPosition] // what is made up to there is stored
}

// maker makes the output of a message. Several run at a time.
type maker func(context.Context) ([]*nats.Msg, error)

// store is where output goes.
type store interface {
	// resume returns how far earlier runs have come.
	resume(ctx context.Context) (copyPosition, error)
	// put returns when the batch is stored. An error is one that another attempt does not repair.
	put(ctx context.Context, batch []item) error
}

// item is a message to store, and how far a replay has come when it is.
type item struct {
	*nats.Msg
	at copyPosition
}

// copyPosition is how far a replay has come.
type copyPosition struct {
	Sequence uint64 `json:"sequence"` // of the source, 0 for none
	Read     int64  `json:"read"`     // messages of the window, that one included
	Chosen   int64  `json:"chosen"`   // pages or records in them
	// Part is how many messages of the output of the next message are stored.
	Part int `json:"part,omitempty"`
}

// made is what has become of a message.
type made struct {
	sequence uint64
	chosen   int64 // pages or records in it
	out      []*nats.Msg
	err      error
}

// resume finds out how far the runs before have come.
func (f *streamCopier) resume(ctx context.Context) error {
	at, err := f.to.resume(ctx)
	f.began = at.Chosen
	f.place.Store(&at)
	return err
}

// run copies until the window is read.
func (f *streamCopier) run(ctx context.Context) error {
	at := *f.place.Load()
	ready := make(chan chan made, f.workers)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		defer close(ready)
		return f.from.read(ctx, max(f.window.From, at.Sequence+1), f.window.To, func(m jetstream.Msg, meta *jetstream.MsgMetadata) error {
			return f.start(ctx, g, m, meta, ready)
		})
	})
	g.Go(func() error { return f.store(ctx, at, ready) })
	return g.Wait()
}

// start has the output of a message made, and lines it up.
func (f *streamCopier) start(ctx context.Context, g *errgroup.Group, m jetstream.Msg, meta *jetstream.MsgMetadata, ready chan<- chan made) error {
	do, err := f.prepare(ctx, m, meta)
	if err != nil {
		return err
	}
	done := make(chan made, 1)
	select {
	case ready <- done:
	case <-ctx.Done():
		return ctx.Err()
	}
	result := made{sequence: meta.Sequence.Stream}
	if do == nil {
		done <- result
		return nil
	}
	g.Go(func() error {
		result.out, result.err = do(ctx)
		result.chosen = 1
		if f.from.name == messages.StreamRecords {
			result.chosen = partsIn(result.out)
		}
		done <- result
		return nil
	})
	return nil
}

// partsIn returns how many records messages have. A batch that cannot be split becomes one dead letter.
func partsIn(all []*nats.Msg) (n int64) {
	for _, m := range all {
		parts, err := messages.SplitBatch(m.Header, m.Data)
		if err != nil {
			n++
		}
		n += int64(len(parts))
	}
	return n
}

// store stores what is ready, a batch at a time.
func (f *streamCopier) store(ctx context.Context, at copyPosition, ready <-chan chan made) error {
	var batch []item
	bytes, began := 0, time.Now()
	flush := func() error {
		if len(batch) > 0 {
			if err := f.to.put(ctx, batch); err != nil {
				return err
			}
		}
		f.place.Store(new(at))
		batch, bytes, began = nil, 0, time.Now()
		return nil
	}
	for done := range ready {
		select {
		case m := <-done:
			if m.err != nil {
				return m.err
			}
			for _, o := range at.add(&m) {
				batch, bytes = append(batch, o), bytes+len(o.Data)
			}
		case <-ctx.Done():
			return ctx.Err()
		}
		if len(batch) >= batchMessages || bytes >= batchBytes || time.Since(began) >= batchTime {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return flush()
}

// add moves the position behind a message, and returns its output that is not stored yet.
func (p *copyPosition) add(m *made) (all []item) {
	before := *p
	p.Sequence, p.Read, p.Chosen, p.Part = m.sequence, p.Read+1, p.Chosen+m.chosen, 0
	skip := 0
	if before.Part > 0 && before.Sequence == m.sequence-1 {
		skip = before.Part
	}
	before.Sequence = m.sequence - 1
	for i := skip; i < len(m.out); i++ {
		at := *p
		if i < len(m.out)-1 {
			at = before
			at.Part = i + 1
		}
		all = append(all, item{m.out[i], at})
	}
	return all
}

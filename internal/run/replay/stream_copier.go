package replay

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/sync/errgroup"

	"seine/pkg/messages"
	"seine/pkg/stages"
)

// batchMessages, batchBytes and batchTime bound a batch of output.
const (
	batchMessages = 64
	batchBytes    = 4 << 20
	batchTime     = 200 * time.Millisecond
)

// streamCopier stores the output of the selected messages, in their order.
type streamCopier struct {
	from   *replayStream
	window seqRange
	to     *recordStore
	// workers is the number of messages processed in parallel.
	workers int
	// prepare returns a maker for a message, nil for a message that is not selected. It is not
	// called concurrently.
	prepare func(context.Context, *stages.Message) (maker, error)
}

// maker produces the output of a message. Makers run concurrently.
type maker func(context.Context) ([]*nats.Msg, error)

// made is the output of a message.
type made struct {
	sequence uint64
	chosen   int64 // pages or records in the message
	out      []*nats.Msg
	err      error
}

// run copies until the end of the range.
func (f *streamCopier) run(ctx context.Context) error {
	at := f.to.at()
	ready := make(chan chan made, f.workers)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		defer close(ready)
		return f.from.read(ctx, max(f.window.From, at.Sequence+1), f.window.To, func(m *stages.Message) error {
			return f.start(ctx, g, m, ready)
		})
	})
	g.Go(func() error { return f.store(ctx, at, ready) })
	return g.Wait()
}

// start starts the maker of a message, and queues its result in order.
func (f *streamCopier) start(ctx context.Context, g *errgroup.Group, m *stages.Message, ready chan<- chan made) error {
	do, err := f.prepare(ctx, m)
	if err != nil {
		return err
	}
	done := make(chan made, 1)
	select {
	case ready <- done:
	case <-ctx.Done():
		return ctx.Err()
	}
	result := made{sequence: m.Sequence}
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

// partsIn returns the number of records in messages. A batch that cannot be split counts as one, as
// it becomes one dead letter.
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

// store stores the results in batches.
func (f *streamCopier) store(ctx context.Context, at copyPosition, ready <-chan chan made) error {
	var batch []*nats.Msg
	bytes, began := 0, time.Now()
	for done := range ready {
		select {
		case m := <-done:
			if m.err != nil {
				return m.err
			}
			for _, o := range m.out {
				o.Header.Set(headerReplay, fmt.Sprint(m.sequence, at.Read, at.Chosen))
				batch, bytes = append(batch, o), bytes+len(o.Data)
			}
			at = copyPosition{m.sequence, at.Read + 1, at.Chosen + m.chosen}
		case <-ctx.Done():
			return ctx.Err()
		}
		if len(batch) >= batchMessages || bytes >= batchBytes || time.Since(began) >= batchTime {
			if err := f.to.put(ctx, batch, at); err != nil {
				return err
			}
			batch, bytes, began = nil, 0, time.Now()
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return f.to.put(ctx, batch, at)
}

package replay

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/base/sleep"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// headerReplay is a header of each message at the side: the sequence of its
// original, and how many messages of the window were read and how many of their parts were
// chosen up to it. So the last message of the stream says how far the replay has come.
const headerReplay = "Seine-Replay"

// batchMessages and batchBytes bound what is published before an acknowledgement
// is waited for.
const (
	batchMessages = 64
	batchBytes    = 4 << 20
)

// streamCopier copies the messages that are chosen to the side, in order.
type streamCopier struct {
	from   *replayStream
	window seqRange
	to     *stages.Bus
	// prepare returns the copy of a message, nil for one that is not chosen.
	prepare func(context.Context, jetstream.Msg) (*nats.Msg, error)
	// room returns when there is room for so many more after sequence last.
	room func(ctx context.Context, last uint64, n int) error

	began   int64 // what earlier runs have chosen
	place   copyPosition
	batch   []*nats.Msg
	bytes   int
	waiting []copyPosition // of the messages in batch
}

// copyPosition is how far a replay has come.
type copyPosition struct {
	sequence uint64 // of the source, 0 for none
	read     int64  // messages of the window, that one included
	chosen   int64  // pages or records in them
	stored   uint64 // the sequence at the side
}

// run feeds until the window is read. It returns how many messages of the window
// were read, and what of them was chosen, by this run and those before.
func (f *streamCopier) run(ctx context.Context) (copyPosition, error) {
	var err error
	if f.place, err = f.resume(ctx); err != nil {
		return copyPosition{}, err
	}
	at := f.place
	f.began = at.chosen
	err = f.from.read(ctx, max(f.window.From, at.sequence+1), f.window.To, func(m jetstream.Msg, meta *jetstream.MsgMetadata) error {
		at.read++
		out, err := f.prepare(ctx, m)
		if err != nil || out == nil {
			return err
		}
		at.sequence, at.chosen = meta.Sequence.Stream, at.chosen+partsIn(out)
		out.Header.Set(headerReplay, fmt.Sprintf("%d %d %d", at.sequence, at.read, at.chosen))
		f.batch, f.bytes, f.waiting = append(f.batch, out), f.bytes+len(out.Data), append(f.waiting, at)
		if len(f.batch) < batchMessages && f.bytes < batchBytes {
			return nil
		}
		return f.flush(ctx)
	})
	if err == nil {
		err = f.flush(ctx)
	}
	return at, err
}

// partsIn returns how many pages or records a message has. A batch that cannot be split becomes one dead letter.
func partsIn(m *nats.Msg) int64 {
	parts, err := messages.SplitBatch(m.Header, m.Data)
	if err != nil {
		return 1
	}
	return int64(len(parts))
}

// resume finds out how far the runs before have come.
func (f *streamCopier) resume(ctx context.Context) (p copyPosition, err error) {
	s, err := f.to.JS.Stream(ctx, f.from.name)
	if err != nil {
		return p, fmt.Errorf("open stream %s at the side: %w", f.from.name, err)
	}
	last := s.CachedInfo().State.LastSeq
	if last == 0 {
		return p, nil
	}
	m, err := s.GetMsg(ctx, last)
	if err != nil {
		return p, fmt.Errorf("read how far the replay has come: %w", err)
	}
	if _, err := fmt.Sscan(m.Header.Get(headerReplay), &p.sequence, &p.read, &p.chosen); err != nil {
		return copyPosition{}, fmt.Errorf("read how far the replay has come: message %d at the side does not say it", last)
	}
	p.stored = last
	return p, nil
}

// next is the sequence at the side of the message after the batch.
func (f *streamCopier) next() uint64 { return f.place.stored + uint64(len(f.batch)) + 1 }

// Waits between attempts to publish what was refused.
const (
	minRefused = 5 * time.Millisecond
	maxRefused = 500 * time.Millisecond
)

// flush publishes the batch. Each message says which one it follows, so that the
// server takes them in order and no one twice, whatever is refused or lost: after
// trouble, what is stored is looked up, and the rest is published again.
func (f *streamCopier) flush(ctx context.Context) error {
	if len(f.batch) == 0 {
		return nil
	}
	if err := f.room(ctx, f.place.stored, len(f.batch)); err != nil {
		return err
	}
	for wait := minRefused; len(f.batch) > 0; wait = min(2*wait, maxRefused) {
		before := len(f.batch)
		if err := f.publish(ctx); err != nil {
			return err
		}
		switch {
		case len(f.batch) == 0:
			continue
		case len(f.batch) < before:
			wait = minRefused
		}
		if err := sleep.For(ctx, wait); err != nil {
			return err
		}
	}
	f.bytes = 0
	return nil
}

// publish sends what is left of the batch once, and takes from it what need not be
// sent again. Its error is one that no further attempt can mend.
func (f *streamCopier) publish(ctx context.Context) error {
	done := 0
	futures, err := f.send()
	if err != nil {
		return err
	}
	for i, future := range futures {
		var err error
		select {
		case <-ctx.Done():
			return ctx.Err()
		case ack := <-future.Ok():
			if done == i {
				if done++; !ack.Duplicate { // what the stream knows is not stored again
					f.place = f.waiting[i]
					f.place.stored = ack.Sequence
				}
			}
		case err = <-future.Err():
		}
		if err := stages.Unpublishable(f.batch[i], err); err != nil {
			return err
		}
	}
	if done < len(f.batch) {
		at, err := f.resume(ctx)
		if err != nil {
			return err
		}
		f.place = at
		for done < len(f.waiting) && f.waiting[done].sequence <= at.sequence {
			done++
		}
	}
	f.batch, f.waiting = f.batch[done:], f.waiting[done:]
	return nil
}

// send publishes the batch, as far as it can now.
func (f *streamCopier) send() (futures []jetstream.PubAckFuture, err error) {
	for i, m := range f.batch {
		future, err := f.to.JS.PublishMsgAsync(m, jetstream.WithExpectLastSequence(f.place.stored+uint64(i)))
		if err != nil { // the rest must wait for this one
			return futures, stages.Unpublishable(m, err)
		}
		futures = append(futures, future)
	}
	return futures, nil
}

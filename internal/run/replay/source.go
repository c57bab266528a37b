package replay

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/base/sleep"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// replayStream is the stream whose messages are replayed. It is only read, by consumers
// that the server forgets.
type replayStream struct {
	bus      *stages.Bus
	stream   jetstream.Stream
	name     string
	subjects []string // filters for the messages that may be chosen
}

// kinds are the second tokens of the subjects that are replayed of a stream. The first is what people call it.
var kinds = map[string][]string{messages.StreamPages: {messages.KindOfPages, messages.KindOfChained}, messages.StreamRecords: {"records"}}

func openReplayStream(ctx context.Context, bus *stages.Bus, stream string, c *Selection) (*replayStream, error) {
	s, err := bus.JS.Stream(ctx, stream)
	if err != nil {
		return nil, fmt.Errorf("open stream %s: %w", stream, err)
	}
	return &replayStream{bus: bus, stream: s, name: stream, subjects: c.subjects(kinds[stream], bus.Layout.Partitions)}, nil
}

// seqRange is the part of a stream that is replayed.
type seqRange struct {
	Created time.Time `json:"created"` // when the stream was made: another has other messages
	First   uint64    `json:"first"`   // the first sequence that the stream had
	// FirstTime is when that message was stored, zero if there was none.
	FirstTime time.Time `json:"first_time"`
	From      uint64    `json:"from"` // the first sequence that is replayed
	To        uint64    `json:"to"`   // and the last; before From if there is nothing
	// Messages are those of the window that the server found for the filter: all
	// that are chosen, if no host was named.
	Messages int64 `json:"messages"`
}

// resolve finds out what of the stream a choice means now.
func (s *replayStream) resolve(ctx context.Context, c *Selection, now time.Time) (w seqRange, err error) {
	info, err := s.stream.Info(ctx)
	if err != nil {
		return w, fmt.Errorf("look at stream %s: %w", s.name, err)
	}
	st := info.State
	w = seqRange{Created: info.Created, First: st.FirstSeq, From: max(st.FirstSeq, c.FromSeq, 1), To: st.LastSeq}
	if st.Msgs > 0 {
		w.FirstTime = st.FirstTime
	}
	if since, _ := c.Since.At(now); !since.IsZero() { // Validate has seen it
		if w.From, err = s.at(ctx, since); err != nil {
			return w, err
		}
	}
	if until, _ := c.Until.At(now); !until.IsZero() {
		end, err := s.at(ctx, until)
		if err != nil {
			return w, err
		}
		w.To = end - 1
	}
	w.Messages, err = s.count(ctx, w.From, w.To)
	return w, err
}

// at returns the first sequence that was stored at t or later, the one after the
// last if none was.
func (s *replayStream) at(ctx context.Context, t time.Time) (uint64, error) {
	info, err := s.probe(ctx, jetstream.ConsumerConfig{DeliverPolicy: jetstream.DeliverByStartTimePolicy, OptStartTime: &t})
	if err != nil {
		return 0, err
	}
	return info.Delivered.Stream + 1, nil
}

// probe has the server say where a consumer would begin, and how many messages it would get.
func (s *replayStream) probe(ctx context.Context, config jetstream.ConsumerConfig) (*jetstream.ConsumerInfo, error) {
	config.AckPolicy, config.MemoryStorage, config.InactiveThreshold = jetstream.AckNonePolicy, true, time.Minute
	c, err := s.stream.CreateConsumer(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("look at stream %s: %w", s.name, err)
	}
	s.bus.ForgetConsumer(ctx, s.name, c.CachedInfo().Name)
	return c.CachedInfo(), nil
}

// countTries is how often count looks again, because the stream has changed.
const countTries = 50

// count returns how many messages there are for the filter from one sequence to
// another. The server counts to the end of the stream, where more may come in the
// meantime: then it is asked again.
func (s *replayStream) count(ctx context.Context, from, to uint64) (n int64, err error) {
	if from > to {
		return 0, nil
	}
	for range countTries {
		var before, beyond, after uint64
		if before, err = s.pending(ctx, from); err != nil {
			return 0, err
		}
		if beyond, err = s.pending(ctx, to+1); err != nil {
			return 0, err
		}
		if after, err = s.pending(ctx, from); err != nil {
			return 0, err
		}
		n = int64(before) - int64(beyond)
		if before == after {
			break
		}
	}
	return n, nil
}

func (s *replayStream) pending(ctx context.Context, from uint64) (uint64, error) {
	info, err := s.probe(ctx, jetstream.ConsumerConfig{FilterSubjects: s.subjects, DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: from})
	if err != nil {
		return 0, err
	}
	return info.NumPending, nil
}

// Reads ahead of whoever takes the messages, and waits for one.
const (
	aheadMessages = 1024
	aheadBytes    = 5 << 18 // more than the largest message, or the pull would spin (nats-server issue 5888)
	quiet         = 2 * time.Second
)

// read calls do for each message for the filter from one sequence to another, in
// order. It outlives a server that is away. What the janitor purges before it was
// read does not come.
func (s *replayStream) read(ctx context.Context, from, to uint64, do func(jetstream.Msg, *jetstream.MsgMetadata) error) error {
	for wait := 100 * time.Millisecond; from <= to; {
		next, err := s.session(ctx, from, to, do)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case !errors.Is(err, errSource):
			return err
		case next > from:
			wait = 100 * time.Millisecond
		}
		from = next
		if wait > time.Second {
			s.bus.Log.Warn("cannot read, trying again", "stream", s.name, "from", from, "error", err)
		}
		if err := sleep.For(ctx, wait); err != nil {
			return err
		}
		wait = min(2*wait, 5*time.Second)
	}
	return nil
}

// errSource marks errors of reading, which may pass.
var errSource = errors.New("read the source")

func failed(err error) error { return fmt.Errorf("%w: %w", errSource, err) }

// session reads until the end, or until something is wrong; it returns where to continue.
func (s *replayStream) session(ctx context.Context, from, to uint64, do func(jetstream.Msg, *jetstream.MsgMetadata) error) (uint64, error) {
	if over, err := s.over(ctx, from, to); over || err != nil {
		return from, err
	}
	config := jetstream.OrderedConsumerConfig{
		FilterSubjects: s.subjects, DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: from,
		InactiveThreshold: 5 * time.Minute, // what is done with the messages may take long
	}
	var done error // of sessionOf
	err := s.bus.ReadOrdered(ctx, s.name, config, func(c jetstream.Consumer) error {
		from, done = s.sessionOf(ctx, c, from, to, do)
		return nil
	})
	if err != nil {
		return from, failed(err)
	}
	return from, done
}

func (s *replayStream) sessionOf(ctx context.Context, c jetstream.Consumer, from, to uint64, do func(jetstream.Msg, *jetstream.MsgMetadata) error) (uint64, error) {
	it, err := c.Messages(jetstream.PullMaxMessagesWithBytesLimit(aheadMessages, aheadBytes))
	if err != nil {
		return from, failed(err)
	}
	defer it.Stop()
	for from <= to {
		waiting, cancel := context.WithTimeout(ctx, quiet)
		m, err := it.Next(jetstream.NextContext(waiting))
		cancel()
		late := errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil
		if err != nil && !late {
			return from, failed(err)
		}
		last := late
		if !late {
			at, err := m.Metadata()
			if err != nil {
				return from, failed(err)
			}
			if at.Sequence.Stream > to {
				return to + 1, nil
			}
			if err := do(m, at); err != nil {
				return from, err
			}
			from, last = at.Sequence.Stream+1, at.NumPending == 0
		}
		if last { // what was still to come may have been purged
			if over, err := s.over(ctx, from, to); over || err != nil {
				return from, err
			}
		}
		if late { // the client waits for a request that is over: see jsclient.Puller
			return from, failed(errQuiet)
		}
	}
	return from, nil
}

var errQuiet = errors.New("the server sends nothing, though there is more")

// over reports whether there is nothing to read from one sequence to another.
func (s *replayStream) over(ctx context.Context, from, to uint64) (bool, error) {
	for _, subject := range s.subjects {
		left, err := s.stream.GetMsg(ctx, from, jetstream.WithGetMsgSubject(subject))
		if err != nil && !errors.Is(err, jetstream.ErrMsgNotFound) {
			return false, failed(err)
		}
		if err == nil && left.Sequence <= to {
			return false, nil
		}
	}
	return true, nil
}

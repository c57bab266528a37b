package replay

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/streams/jsclient"
	"seine/internal/streams/partition"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// replayStream is the stream whose messages are replayed. It is read with ephemeral consumers.
type replayStream struct {
	bus      *stages.Bus
	stream   jetstream.Stream
	name     string
	subjects []string // filters for messages that may be selected
}

// kinds maps a stream to the second tokens of the subjects that are replayed. The first is the name
// for users.
var kinds = map[string][]string{messages.StreamPages: {messages.KindOfPages, messages.KindOfChained}, messages.StreamRecords: {"records"}}

func openReplayStream(ctx context.Context, bus *stages.Bus, stream string, c *Selection) (*replayStream, error) {
	s, err := bus.JS.Stream(ctx, stream)
	if err != nil {
		return nil, fmt.Errorf("open stream %s: %w", stream, err)
	}
	return &replayStream{bus: bus, stream: s, name: stream, subjects: c.subjects(kinds[stream], bus.Layout.Partitions)}, nil
}

// seqRange is the range of a stream that is replayed.
type seqRange struct {
	Created time.Time `json:"created"` // creation time of the stream; a re-created stream has other messages
	First   uint64    `json:"first"`   // first sequence of the stream
	// FirstTime is when that message was stored, zero for an empty stream.
	FirstTime time.Time `json:"first_time"`
	From      uint64    `json:"from"` // first sequence that is replayed
	To        uint64    `json:"to"`   // last sequence; less than From if there is nothing to replay
	// Messages is the number of messages in the range that match the filter: all selected ones, if
	// no host is selected.
	Messages int64 `json:"messages"`
}

// resolve returns the range that a selection means now.
func (s *replayStream) resolve(ctx context.Context, c *Selection, now time.Time) (w seqRange, err error) {
	info, err := s.stream.Info(ctx)
	if err != nil {
		return w, fmt.Errorf("inspect stream %s: %w", s.name, err)
	}
	st := info.State
	w = seqRange{Created: info.Created, First: st.FirstSeq, From: max(st.FirstSeq, c.FromSeq, 1), To: st.LastSeq}
	if st.Msgs > 0 {
		w.FirstTime = st.FirstTime
	}
	if since, _ := c.Since.At(now); !since.IsZero() { // Validate has checked it
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

// at returns the first sequence stored at t or later. If there is none, it returns the one after
// the last.
func (s *replayStream) at(ctx context.Context, t time.Time) (uint64, error) {
	info, err := s.probe(ctx, jetstream.ConsumerConfig{DeliverPolicy: jetstream.DeliverByStartTimePolicy, OptStartTime: &t})
	if err != nil {
		return 0, err
	}
	return info.Delivered.Stream + 1, nil
}

// probe creates a consumer to learn where it would begin and how many messages it would get.
func (s *replayStream) probe(ctx context.Context, config jetstream.ConsumerConfig) (*jetstream.ConsumerInfo, error) {
	config.AckPolicy, config.MemoryStorage, config.InactiveThreshold = jetstream.AckNonePolicy, true, time.Minute
	c, err := s.stream.CreateConsumer(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("inspect stream %s: %w", s.name, err)
	}
	s.bus.ForgetConsumer(ctx, s.name, c.CachedInfo().Name)
	return c.CachedInfo(), nil
}

// countTries bounds the repeats of a count while the stream changes.
const countTries = 50

// count returns the number of messages between two sequences that match the filter. The server
// counts to the end of the stream, where messages may arrive meanwhile: then count tries again.
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

const (
	quiet    = 100 * time.Millisecond // idle time after which the rest of the range may have been purged
	inactive = 5 * time.Minute        // processing a message may take long
)

// read calls do for each message between two sequences that matches the filter, in order. It
// survives outages of the server. It skips messages that the janitor purges before they are read.
func (s *replayStream) read(ctx context.Context, from, to uint64, do func(*stages.Message) error) error {
	after, err := s.before(ctx, from)
	if err != nil {
		return err
	}
	config := jetstream.ConsumerConfig{FilterSubjects: s.subjects, AckPolicy: jetstream.AckNonePolicy, MemoryStorage: true, InactiveThreshold: inactive}
	reader := partition.NewOrderedReader(s.bus, s.name, config, after)
	ctx, cancel := context.WithCancel(ctx)
	var reading sync.WaitGroup
	reading.Go(func() { _ = reader.Run(ctx) })
	defer reading.Wait()
	defer cancel()
	for from <= to {
		select {
		case m, ok := <-reader.C():
			switch {
			case !ok:
				return ctx.Err()
			case m.Sequence > to:
				return nil
			case m.Sequence < from: // the stream has lost its end
				continue
			}
			if err := do(&m.Message); err != nil {
				return err
			}
			from = m.Sequence + 1
		case <-time.After(quiet):
			if over, err := s.over(ctx, from, to); over && err == nil {
				return nil
			}
		}
	}
	return nil
}

// before returns the position of the message before a sequence.
func (s *replayStream) before(ctx context.Context, from uint64) (messages.Position, error) {
	p := messages.Position{Created: s.stream.CachedInfo().Created, Sequence: from - 1}
	err := jsclient.RetryUnavailable(ctx, func(ctx context.Context) error {
		m, err := s.stream.GetMsg(ctx, p.Sequence)
		if err == nil {
			p.Stored = m.Time
		}
		return err
	})
	if err != nil && !errors.Is(err, jetstream.ErrMsgNotFound) && p.Sequence > 0 {
		return p, fmt.Errorf("read message %d of stream %s: %w", p.Sequence, s.name, err)
	}
	return p, nil
}

// over reports whether the stream has no message between two sequences.
func (s *replayStream) over(ctx context.Context, from, to uint64) (bool, error) {
	for _, subject := range s.subjects {
		left, err := s.stream.GetMsg(ctx, from, jetstream.WithGetMsgSubject(subject))
		if err != nil && !errors.Is(err, jetstream.ErrMsgNotFound) {
			return false, err
		}
		if err == nil && left.Sequence <= to {
			return false, nil
		}
	}
	return true, nil
}

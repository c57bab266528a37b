package partition

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/base/sleep"
	"seine/internal/streams/drift"
	"seine/internal/streams/jsclient"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// OrderedReader reads a stream in order for the only owner of a partition. It starts where the
// owner's own state ends, whatever the server believes was acknowledged, and rewinds when a
// connection lost messages. So every message comes once, in order, without waiting for a
// redelivery.
type OrderedReader struct {
	bus    *stages.Bus
	stream string
	config jetstream.ConsumerConfig
	last   messages.Position // of the last message handed out
	acks   *cumulativeAcker
	lag    *share
	short  time.Time // since when the stream ends before the position, zero if it does not
	out    chan *ReaderMessage
}

// ReaderMessage is a message of an OrderedReader.
type ReaderMessage struct {
	stages.Message
	// Position is where the reader continues after this message.
	Position messages.Position
	acks     *cumulativeAcker
}

// Ack acknowledges m and all messages before it in the stream. A lost acknowledgement only makes
// the server keep history longer.
func (m *ReaderMessage) Ack() { m.acks.acknowledge(m.Sequence) }

const (
	feedBatch = 1024 // messages per request: enough for a turn of the owner
	feedAhead = 64   // messages ready for the owner
)

// NewOrderedReader returns a reader of a stream that begins after the given position. With a config
// that has no durable name it only observes: the server drops the consumer, and keeps no messages
// for it.
func NewOrderedReader(b *stages.Bus, stream string, config jetstream.ConsumerConfig, after messages.Position) *OrderedReader {
	readerRewinds.WithLabelValues(messages.ReaderOf(config.Durable)) // so that the metric exists from the start
	return &OrderedReader{
		bus: b, stream: stream, config: config, last: after, lag: lagOf(config.Durable),
		acks: &cumulativeAcker{nc: b.NC, done: after.Sequence}, out: make(chan *ReaderMessage, feedAhead),
	}
}

// C returns the channel of messages, which is closed when Run returns.
func (o *OrderedReader) C() <-chan *ReaderMessage { return o.out }

// Run sends messages to C until ctx is done. It survives the absence of the server.
func (o *OrderedReader) Run(ctx context.Context) error {
	defer close(o.out)
	defer o.lag.set(0)
	defer o.note(nil)
	if o.config.Durable != "" {
		go stages.KeepConsumer(ctx, o.bus, o.stream, o.config)
	}
	wait := jsclient.MinRefusedWait
	for sessions := 0; ctx.Err() == nil; sessions++ {
		if sessions > 0 {
			readerRewinds.WithLabelValues(messages.ReaderOf(o.config.Durable)).Inc()
		}
		before := o.last
		err := o.session(ctx)
		if ctx.Err() != nil {
			break
		}
		if o.last != before {
			wait = jsclient.MinRefusedWait
		}
		if wait >= jsclient.MaxRefusedWait {
			o.bus.Log.Warn("stream reader interrupted", "stream", o.stream, "consumer", o.config.Durable, "error", err)
			o.note(err)
		}
		_ = sleep.For(ctx, wait)
		wait = min(2*wait, jsclient.MaxRefusedWait)
	}
	return nil
}

// note reports the reader's current problem to the health of the process, nil if there is none.
func (o *OrderedReader) note(err error) {
	o.bus.Troubles.Note(drift.ConsumerObject(o.stream, cmp.Or(o.config.Durable, "without a name")), err)
}

// session reads until something is wrong with the flow of messages. A new connection ends it, as
// messages lost by the old one would be redelivered only after AckWait.
func (o *OrderedReader) session(ctx context.Context) error {
	ctx, cancel := o.bus.UntilReconnected(ctx)
	defer cancel()
	consumer, err := o.rewind(ctx)
	if err != nil {
		return err
	}
	if o.config.Durable == "" {
		defer func() { o.bus.ForgetConsumer(ctx, o.stream, consumer.CachedInfo().Name) }()
	}
	var got arrivals
	go o.watch(ctx, consumer, &got, cancel)
	r := readSession{OrderedReader: o, got: &got, end: cancel}
	puller := jsclient.NewPuller(&o.bus.Client, consumer.CachedInfo())
	batch := jsclient.Batch{Messages: feedBatch, Bytes: jsclient.PullBytes(o.bus.NC)}
	for ctx.Err() == nil && err == nil {
		got.waiting.Store(true)
		if err = puller.Pull(ctx, batch, func(m *nats.Msg) { r.take(ctx, m) }); err == nil {
			o.note(nil)
		}
	}
	if err = cmp.Or(r.err, err, ctx.Err()); err != nil {
		return fmt.Errorf("read %s: %w", o.stream, err)
	}
	return nil
}

// readSession is a session of an OrderedReader.
type readSession struct {
	*OrderedReader
	got    *arrivals
	end    context.CancelFunc
	before uint64 // consumer sequence of the previous message
	err    error  // error that ended the session
}

// take hands out the next message, or ends the session if a message is missing.
func (r *readSession) take(ctx context.Context, m *nats.Msg) {
	if r.err != nil || ctx.Err() != nil {
		return
	}
	r.got.waiting.Store(false)
	defer r.got.waiting.Store(true)
	if r.err = r.handOut(ctx, m); r.err != nil {
		r.end()
	}
}

func (r *readSession) handOut(ctx context.Context, m *nats.Msg) error {
	md, err := m.Metadata()
	if err != nil {
		return err
	}
	r.got.last.Store(md.Sequence.Consumer)
	if r.before++; md.Sequence.Consumer != r.before {
		return errGap
	}
	seq := jetstream.SequencePair{Consumer: md.Sequence.Consumer, Stream: md.Sequence.Stream}
	r.acks.delivered(seq, m.Reply)
	if seq.Stream <= r.last.Sequence {
		return nil
	}
	at := messages.Position{Created: r.last.Created, Sequence: seq.Stream, Stored: md.Timestamp}
	fm := &ReaderMessage{acks: r.acks, Position: at, Message: stages.Message{
		Subject: m.Subject, Header: m.Header, Data: m.Data, Stream: md.Stream,
		Sequence: seq.Stream, Deliveries: md.NumDelivered, Stored: md.Timestamp, Taken: time.Now(),
	}}
	select {
	case r.out <- fm:
		r.last = at
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// arrivals are the consumer's messages that have reached a session.
type arrivals struct {
	last    atomic.Uint64 // consumer sequence of the last message
	waiting atomic.Bool   // waits for the next message, not for the owner
}

// Intervals of watch: short after a rewind, when a pull of the previous owner may still swallow
// messages, then long.
const (
	firstWatch = 250 * time.Millisecond
	laterWatch = 5 * time.Second
)

// watch ends the session if the server has sent messages that did not arrive, and sends no further
// message that would reveal the gap.
func (o *OrderedReader) watch(ctx context.Context, c jetstream.Consumer, got *arrivals, end context.CancelFunc) {
	var missing uint64 // sequence that was missing at the last check
	for wait := firstWatch; sleep.For(ctx, wait) == nil; {
		wait = laterWatch
		before := got.last.Load()
		info, err := c.Info(ctx)
		if err != nil {
			continue
		}
		o.lag.set(int64(info.NumPending))
		sent := info.Delivered.Consumer
		switch {
		case sent <= before || got.last.Load() != before || !got.waiting.Load():
			missing = 0
		case missing == sent: // twice the same, and nothing arrived between
			o.bus.Log.Debug("reader of a stream starved", "stream", o.stream, "sent", sent, "received", before)
			end()
			return
		default:
			missing, wait = sent, firstWatch
		}
	}
}

var errGap = errors.New("messages were lost in delivery; reading them again")

// rewind makes the consumer start right after the last acknowledged message. Messages handed out
// since then come again, and are skipped. To start after those would acknowledge them, and the
// janitor would purge messages that the owner has not processed.
func (o *OrderedReader) rewind(ctx context.Context) (jetstream.Consumer, error) {
	s, err := o.bus.JS.Stream(ctx, o.stream)
	if err != nil {
		return nil, fmt.Errorf("open stream %s: %w", o.stream, err)
	}
	if err := o.verify(ctx, s); err != nil {
		return nil, err
	}
	c, err := o.consumer(ctx)
	if err != nil {
		return nil, err
	}
	// The consumer must belong to the stream that was verified.
	if again, err := s.Info(ctx); err != nil || !again.Created.Equal(o.last.Created) {
		return nil, fmt.Errorf("stream %s changed while it was opened: %w", o.stream, errors.Join(err, errGap))
	}
	return c, nil
}

func (o *OrderedReader) consumer(ctx context.Context) (jetstream.Consumer, error) {
	config := o.config
	if config.Durable == "" { // acknowledges nothing
		config.DeliverPolicy, config.OptStartSeq = jetstream.DeliverByStartSequencePolicy, o.last.Sequence+1
	}
	c, err := o.bus.OpenConsumer(ctx, o.stream, config)
	if err != nil {
		return nil, fmt.Errorf("open consumer %s: %w", config.Durable, err)
	}
	if config.Durable == "" {
		return c, nil
	}
	done := o.acks.startSession()
	if _, err := o.bus.JS.ResetConsumerToSequence(ctx, o.stream, config.Durable, done+1); err != nil {
		return nil, fmt.Errorf("rewind consumer %s to %d: %w", config.Durable, done+1, err)
	}
	return c, nil
}

// leaderBehind is how long a node that was cut off may answer as a stream's leader from old state:
// it steps down after 10 s without the others (nats-server 2.15.2).
const leaderBehind = 15 * time.Second

// await returns an error while a stream that seems to end before the position may have more
// messages, because the answering node may no longer be its leader. Only if all replicas lost the
// messages are they really gone.
func (o *OrderedReader) await(info *jetstream.StreamInfo) error {
	if info.Config.Replicas < 2 || !info.Created.Equal(o.last.Created) || info.State.LastSeq >= o.last.Sequence {
		o.short = time.Time{}
		return nil
	}
	if o.short.IsZero() {
		o.short = time.Now()
	}
	if time.Since(o.short) > leaderBehind {
		return nil
	}
	return fmt.Errorf("read stream %s: its leader has %d messages, %d were read", o.stream, info.State.LastSeq, o.last.Sequence)
}

// verify checks that the stream is still the one that the position refers to. A stream that was
// re-created, or lost its tail in a power failure, assigns the same sequences to other messages.
// Then all stored messages are read again, which owners recognise, so that no new message is
// skipped as old.
func (o *OrderedReader) verify(ctx context.Context, s jetstream.Stream) error {
	info := s.CachedInfo()
	if err := o.await(info); err != nil {
		return err
	}
	same := info.Created.Equal(o.last.Created) && info.State.LastSeq >= o.last.Sequence
	if same && o.last.Sequence >= info.State.FirstSeq && o.last.Sequence > 0 {
		m, err := s.GetMsg(ctx, o.last.Sequence)
		switch {
		case err == nil:
			same = m.Time.Equal(o.last.Stored)
		case !errors.Is(err, jetstream.ErrMsgNotFound): // not found: purged just now
			return fmt.Errorf("read message %d of %s: %w", o.last.Sequence, o.stream, err)
		}
	}
	if same {
		return nil
	}
	if o.last.Sequence > 0 && info.Created.Equal(o.last.Created) && o.config.Durable != "" {
		// Visits of the lost period may be in the output.
		if err := o.bus.Eras.NoteLoss(ctx); err != nil {
			return err
		}
	}
	if o.last.Sequence > 0 {
		o.bus.Log.Warn("stream was re-created; reading all of it again",
			"stream", o.stream, "position", o.last.Sequence, "last", info.State.LastSeq)
	}
	o.acks.end()
	o.acks = &cumulativeAcker{nc: o.bus.NC}
	o.last = messages.Position{Created: info.Created}
	return nil
}

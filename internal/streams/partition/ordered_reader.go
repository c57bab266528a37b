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

// OrderedReader reads a stream in order for the one owner of a partition. It starts
// where the owner's own state ends, whatever the server believes was
// acknowledged, and it rewinds by itself when a connection lost messages: so
// every message comes once, in order, without waiting for a redelivery.
type OrderedReader struct {
	bus    *stages.Bus
	stream string
	config jetstream.ConsumerConfig
	last   messages.Position // of the last message handed out
	acks   *cumulativeAcker
	lag    *share
	short  time.Time // when the stream first ended before the position, zero if it does not
	out    chan *ReaderMessage
}

// ReaderMessage is a message of a OrderedReader.
type ReaderMessage struct {
	stages.Message
	// Position is where the reader continues after this message.
	Position messages.Position
	acks     *cumulativeAcker
}

// Ack tells the server that m and all before it in the stream are done. A lost
// acknowledgement costs nothing but history kept longer.
func (m *ReaderMessage) Ack() { m.acks.acknowledge(m.Sequence) }

const (
	feedBatch = 1024 // messages of a request: enough for a turn of the owner
	feedAhead = 64   // messages ready for the owner
)

// NewOrderedReader returns a reader of stream that begins after the position given. With a
// consumer that has no durable name it only looks on: the server forgets the
// consumer, and keeps nothing for its sake.
func NewOrderedReader(b *stages.Bus, stream string, config jetstream.ConsumerConfig, after messages.Position) *OrderedReader {
	readerRewinds.WithLabelValues(messages.ReaderOf(config.Durable)) // from the start
	return &OrderedReader{
		bus: b, stream: stream, config: config, last: after, lag: lagOf(config.Durable),
		acks: &cumulativeAcker{nc: b.NC, done: after.Sequence}, out: make(chan *ReaderMessage, feedAhead),
	}
}

// C gives the messages, until Run returns.
func (o *OrderedReader) C() <-chan *ReaderMessage { return o.out }

// Run feeds C until ctx is done. It outlives a server that is away.
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
			o.bus.Log.Warn("reader of a stream interrupted", "stream", o.stream, "consumer", o.config.Durable, "error", err)
			o.note(err)
		}
		_ = sleep.For(ctx, wait)
		wait = min(2*wait, jsclient.MaxRefusedWait)
	}
	return nil
}

// note tells the health of the process what keeps the reader from its stream, nil if nothing does.
func (o *OrderedReader) note(err error) {
	o.bus.Troubles.Note(drift.ConsumerObject(o.stream, cmp.Or(o.config.Durable, "without a name")), err)
}

// session reads until something is wrong with the flow of messages. A new
// connection is: what the old one lost would come again only after AckWait.
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
	before uint64 // sequence in the consumer of the message before
	err    error  // what ended the session
}

// take hands out the next message, or ends the session if that is another.
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

// arrivals are what of a consumer's messages has reached a session.
type arrivals struct {
	last    atomic.Uint64 // sequence in the consumer
	waiting atomic.Bool   // for the next, rather than for the owner
}

// Waits of watch: soon after a rewind, when a pull of the owner before may
// still swallow messages, then now and then.
const (
	firstWatch = 250 * time.Millisecond
	laterWatch = 5 * time.Second
)

// watch ends the session when the server has sent messages that did not
// arrive, and sends no other by which the gap would show.
func (o *OrderedReader) watch(ctx context.Context, c jetstream.Consumer, got *arrivals, end context.CancelFunc) {
	var missing uint64 // what was missing at the last look
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
		case missing == sent: // twice the same, and nothing came between
			o.bus.Log.Debug("reader of a stream starved", "stream", o.stream, "sent", sent, "received", before)
			end()
			return
		default:
			missing, wait = sent, firstWatch
		}
	}
}

var errGap = errors.New("messages were lost on the way, reading them again")

// rewind makes the consumer start right after the last message acknowledged: what
// was handed out since comes once more, and is passed over. To start after that
// would acknowledge it, and the janitor would let go of what its owner has not done.
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
	// The consumer must be of the stream that was verified.
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

// leaderBehind is how long a node that was cut off may answer as a stream's leader,
// from what it had: it steps down after 10 s without the others (nats-server 2.15.2).
const leaderBehind = 15 * time.Second

// await returns an error while a stream that ends before the position may only seem
// to, because who answers for it does not lead it any more. The replicas would have
// to lose it all together.
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

// verify checks that the stream still is the one that the position is in. One
// that was made again, or lost its tail when a machine lost power, numbers other
// messages with the same sequences: then everything stored is read again, which
// owners recognise, rather than something new be skipped as old.
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
		case !errors.Is(err, jetstream.ErrMsgNotFound): // not found: purged this moment
			return fmt.Errorf("read message %d of %s: %w", o.last.Sequence, o.stream, err)
		}
	}
	if same {
		return nil
	}
	if o.last.Sequence > 0 && info.Created.Equal(o.last.Created) && o.config.Durable != "" {
		// What was visited in the lost time may be in the output.
		if err := o.bus.Eras.NoteLoss(ctx); err != nil {
			return err
		}
	}
	if o.last.Sequence > 0 {
		o.bus.Log.Warn("stream was re-created, reading all of it again",
			"stream", o.stream, "position", o.last.Sequence, "last", info.State.LastSeq)
	}
	o.acks.end()
	o.acks = &cumulativeAcker{nc: o.bus.NC}
	o.last = messages.Position{Created: info.Created}
	return nil
}

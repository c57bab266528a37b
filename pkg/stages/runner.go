package stages

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"seine/internal/base/panics"
	"seine/internal/base/sleep"
	"seine/internal/streams/drift"
	"seine/internal/streams/jsclient"
	"seine/pkg/messages"
)

// Message is what a handler gets: a message of a stream and where it stood.
type Message struct {
	Subject    string
	Header     nats.Header
	Data       []byte
	Stream     string
	Sequence   uint64    // in the stream
	Deliveries uint64    // this one included
	Stored     time.Time // when the stream took it
	Taken      time.Time // when this process had it
	Part       int       // which message of a batch it is, from 0
	Body       []byte    // decoded body of a page, if a Chain has it; valid while the message is handled

	store func(context.Context) (sequence uint64, err error) // of one that a Chain has handed on
}

// Parts returns the messages that m holds: itself alone, unless it is a batch. The
// error says what is wrong with the batch.
func (m *Message) Parts() ([]*Message, error) {
	if m.Header.Get(messages.HeaderBatch) == "" {
		return []*Message{m}, nil
	}
	split, err := messages.SplitBatch(m.Header, m.Data)
	parts := make([]*Message, len(split))
	for i := range split {
		part := *m
		part.Header, part.Data, part.Part = split[i].Header, split[i].Data, i
		parts[i] = &part
	}
	return parts, err
}

// Output is what a handler wants published. Then is published only after all
// of First has been acknowledged, for messages that promise the others, and Last
// only after all of Then.
type Output struct {
	First, Then, Last []*nats.Msg
	// Stored, if set, is called with each message that is not of a batch, and the sequence that it has in its stream.
	Stored func(m *nats.Msg, sequence uint64)
	// Done, if set, is called when all has been acknowledged.
	Done func()
	// Free, if set, is called when the messages are needed no longer, whatever
	// became of them.
	Free func()
}

// steps are the messages in the order of their promises: each step is acknowledged before the next is sent.
func (o *Output) steps() [][]*nats.Msg { return [][]*nats.Msg{o.First, o.Then, o.Last} }

// Messages returns all messages, in the order in which they are published.
func (o *Output) Messages() []*nats.Msg { return slices.Concat(o.steps()...) }

// OnDone adds to what is called when all is acknowledged.
func (o *Output) OnDone(do func()) {
	before := o.Done
	switch {
	case do == nil:
	case before == nil:
		o.Done = do
	default:
		o.Done = func() { before(); do() }
	}
}

// Handler turns one message into others. It is called from several
// goroutines, may be called again with the same message, and must return when
// ctx is done. Its errors are transient unless
// they are marked with PoisonError.
type Handler func(ctx context.Context, m *Message) (Output, error)

// Runner is the one loop of a stateless stage: take a message, handle it,
// publish what comes of it, acknowledge it. A crash at any point makes another
// instance do the message again; outputs have an identity, so that is harmless.
type Runner struct {
	Stage    string
	Bus      *Bus
	Stream   string
	Consumer jetstream.ConsumerConfig
	// Workers handle messages at the same time; Prefetch more wait in memory.
	Workers, Prefetch int
	Handle            Handler
	// OnDeadLetter, if set, returns what else must be published when m goes to DEAD, so
	// that the rest of the pipeline need not wait for it.
	OnDeadLetter func(m *Message, why error) Output
	// Describe tells for traces and logs what m is about. It is asked only when
	// there is something to tell.
	Describe func(m *Message) MessageContext
	// Drain bounds how long Run continues with what it holds after its context
	// is done.
	Drain time.Duration

	pub     *Publisher
	metrics *metrics
	holds   inFlightSet
	delays  delayedRedeliveries
	queue   chan *delivery
	slots   chan struct{}
	wait    time.Duration // before another delivery, 0 for what the error asks for
}

// delivery is a message between delivery and acknowledgement.
type delivery struct {
	Message
	nc    *nats.Conn
	reply string // where to tell the server of it
}

// Acknowledgements of a message (ADR-13).
const (
	ack     = "+ACK"
	nak     = "-NAK" // another may have it at once
	working = "+WPI"
)

func (d *delivery) sendAck(what string) error { return d.nc.Publish(d.reply, []byte(what)) }

// Run works until ctx is done, then finishes what it holds within Drain, gives
// back the rest and returns nil.
func (r *Runner) Run(ctx context.Context) error {
	r.pub = NewPublisher(r.Bus, r.Stage)
	r.metrics = metricsFor(r.Stage)
	for _, outcome := range outcomes {
		r.metrics.handled.WithLabelValues(outcome)
	}
	capacity := r.Workers + r.Prefetch
	r.queue = make(chan *delivery, capacity)
	r.slots = make(chan struct{}, capacity)

	// work outlives ctx by Drain: ctx only stops the pulling.
	work, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	stopTimer := context.AfterFunc(ctx, func() {
		time.AfterFunc(r.Drain, cut)
	})
	defer stopTimer()

	beat, stopBeat := context.WithCancel(context.Background())
	defer stopBeat()
	go r.holds.keepAlive(beat, r.ackWait()/3)
	go KeepConsumer(beat, r.Bus, r.Stream, r.Consumer)
	stopDetector, err := r.startStuckDetector(beat)
	if err != nil {
		return err
	}
	defer stopDetector()

	g, gctx := errgroup.WithContext(work)
	pulling, stopPulling := context.WithCancel(ctx)
	defer stopPulling()
	pulled := make(chan struct{})
	g.Go(func() error {
		defer close(r.queue)
		defer close(pulled)
		return r.pull(pulling)
	})
	for range r.Workers {
		g.Go(func() error { r.work(gctx, pulling, pulled); return nil })
	}
	err = g.Wait()
	r.holds.nackAll()
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// pull keeps the queue full. It asks for as many messages as there are free
// slots, so that each delivered message is kept alive.
func (r *Runner) pull(ctx context.Context) error {
	var puller *jsclient.Puller // nil if the consumer may not be there
	object := drift.ConsumerObject(r.Stream, r.Consumer.Durable)
	defer r.Bus.Troubles.Note(object, nil)
	for wait := jsclient.MinRefusedWait; ctx.Err() == nil; {
		var err error
		if puller == nil {
			var c jetstream.Consumer
			c, err = r.Bus.OpenConsumer(ctx, r.Stream, r.Consumer)
			if err == nil {
				err = r.Bus.continueConsumer(ctx, c.CachedInfo())
			}
			if err == nil {
				puller = jsclient.NewPuller(&r.Bus.Client, c.CachedInfo())
			}
		}
		if err == nil {
			err = r.fetch(ctx, puller)
		}
		if err == nil {
			wait = jsclient.MinRefusedWait
			r.Bus.Troubles.Note(object, nil)
			continue
		}
		if ctx.Err() != nil {
			return nil
		}
		if wait >= jsclient.MaxRefusedWait {
			r.Bus.Log.Warn("cannot pull", "stream", r.Stream, "consumer", r.Consumer.Durable, "error", err)
			r.Bus.Troubles.Note(object, err)
		}
		puller = nil // it may have gone with its server
		_ = sleep.For(ctx, wait)
		wait = min(2*wait, jsclient.MaxRefusedWait)
	}
	return nil
}

// maxClaim is how many free slots are waited for at most.
const maxClaim = 32

func (r *Runner) fetch(ctx context.Context, c *jsclient.Puller) error {
	free := r.acquireSlots(ctx)
	if free == 0 {
		return nil
	}
	defer func() { r.release(free) }()
	return c.Pull(ctx, jsclient.Batch{Messages: free, Bytes: jsclient.PullBytes(r.Bus.NC)}, func(m *nats.Msg) {
		h, err := newDelivery(r.Bus.NC, m)
		if err != nil {
			r.Bus.Log.Error("message without JetStream metadata", "subject", m.Subject, "error", err)
			return
		}
		free--
		r.delays.remove(h.Sequence)
		r.holds.add(h)
		r.metrics.inFlight.Inc()
		r.queue <- h
	})
}

// acquireSlots takes all free slots, waiting until there are some: a request per
// message would cost more than the message. More than a few dozen would only let
// workers stand idle meanwhile. Once ctx is done it takes none: a request then
// would get what the workers give back, and keep it from others for AckWait.
func (r *Runner) acquireSlots(ctx context.Context) int {
	n := min(max(1, cap(r.slots)/4), maxClaim)
	for i := range n {
		select {
		case r.slots <- struct{}{}:
		case <-ctx.Done():
			r.release(i)
			return 0
		}
	}
	for ctx.Err() == nil {
		select {
		case r.slots <- struct{}{}:
			n++
		default:
			return n
		}
	}
	r.release(n)
	return 0
}

func (r *Runner) release(n int) {
	for range n {
		<-r.slots
	}
}

// work handles queued messages until the queue is closed. Once stopping is
// done, what has not been started is given back, when no request of this process
// is left that the server could answer with it.
func (r *Runner) work(ctx, stopping context.Context, pulled <-chan struct{}) {
	for h := range r.queue {
		if stopping.Err() != nil {
			<-pulled
			_ = h.sendAck(nak)
		} else {
			r.process(ctx, h)
		}
		r.holds.remove(h)
		r.metrics.inFlight.Dec()
		r.release(1)
	}
}

// process takes a message to its end.
func (r *Runner) process(ctx context.Context, h *delivery) {
	var out Output
	ctx, span := r.startSpan(ctx, h)
	err := errTooOften
	if h.Deliveries <= messages.MaxCrashes {
		out, err = Recovered(func() (Output, error) { return r.Handle(ctx, &h.Message) })
	}
	if out.Free != nil {
		defer out.Free()
	}
	if err == nil {
		err = r.publish(ctx, out)
	}
	outcome := "done"
	if err == nil {
		if out.Done != nil {
			out.Done()
		}
		err = h.sendAck(ack)
	} else {
		outcome, err = r.failed(ctx, h, err)
	}
	endSpan(span, outcome)
	r.metrics.handled.WithLabelValues(outcome).Inc()
	r.metrics.seconds.Observe(time.Since(h.Taken).Seconds())
	if err != nil {
		// Only the acknowledgement is missing: it will be delivered again.
		r.Bus.Log.Debug("not acknowledged", r.about(h, "error", err)...)
	}
}

var errTooOften = PoisonError(fmt.Errorf("delivered more than %d times and never finished: its workers died or hung", messages.MaxCrashes))

// Recovered calls a handler, and returns a panic of it as poison: the same message would make the next process panic as well.
func Recovered(handle func() (Output, error)) (Output, error) {
	out, err := panics.Catch(handle)
	if p, ok := errors.AsType[*panics.Error](err); ok {
		err = PoisonError(fmt.Errorf("handler panicked: %v\n%s", p.Value, p.Stack))
	}
	return out, err
}

// publish keeps the promise of Output: First is stored before Then is sent, and that before Last.
func (r *Runner) publish(ctx context.Context, out Output) error {
	ctx, span := r.publishing(ctx, out)
	var err error
	for _, msgs := range out.steps() {
		if err == nil && len(msgs) > 0 {
			err = r.pub.publish(ctx, msgs, out.Stored)
		}
	}
	published(span, err)
	return markPublish(err)
}

func markPublish(err error) error {
	if errors.Is(err, ErrUnpublishable) {
		return PoisonError(err)
	}
	return err
}

// alreadyAcked reports that a message is acknowledged. A process that was frozen for
// longer than AckWait continues with what another has done since, and may find that
// what it needs has been removed, as a large body: that is no reason for DEAD.
func (r *Runner) alreadyAcked(ctx context.Context, h *delivery) bool {
	ctx, cancel := jsclient.AnswerWithin(ctx)
	defer cancel()
	c, err := r.Bus.JS.Consumer(ctx, r.Stream, r.Consumer.Durable)
	return err == nil && c.CachedInfo().AckFloor.Stream >= h.Sequence
}

func newDelivery(nc *nats.Conn, m *nats.Msg) (*delivery, error) {
	md, err := m.Metadata()
	if err != nil {
		return nil, err
	}
	return &delivery{nc: nc, reply: m.Reply, Message: Message{
		Subject: m.Subject, Header: m.Header, Data: m.Data, Stream: md.Stream,
		Sequence: md.Sequence.Stream, Deliveries: md.NumDelivered, Stored: md.Timestamp, Taken: time.Now(),
	}}, nil
}

// inFlightSet knows the messages that a process has taken and not acknowledged.
type inFlightSet struct {
	mu  sync.Mutex
	set map[*delivery]struct{}
}

func (s *inFlightSet) add(h *delivery) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.set == nil {
		s.set = make(map[*delivery]struct{})
	}
	s.set[h] = struct{}{}
}

func (s *inFlightSet) remove(h *delivery) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.set, h)
}

// keepAlive tells the server of every held message that it is being worked on.
func (s *inFlightSet) keepAlive(ctx context.Context, every time.Duration) {
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			s.each(func(h *delivery) { _ = h.sendAck(working) })
		}
	}
}

// nackAll returns what is still held, so that another need not wait AckWait.
func (s *inFlightSet) nackAll() { s.each(func(h *delivery) { _ = h.sendAck(nak) }) }

// has reports whether the message of a sequence of the stream is held, or one before it.
func (s *inFlightSet) has(seq uint64) (is bool) {
	s.each(func(h *delivery) { is = is || h.Sequence <= seq })
	return is
}

func (s *inFlightSet) each(do func(*delivery)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for h := range s.set {
		do(h)
	}
}

// about is what a line about a message has: what the message is about, where it
// stands, and more. It is asked only for lines that are rare.
func (r *Runner) about(h *delivery, more ...any) []any {
	attrs := r.subjectOf(&h.Message).LogAttrsIn(h.Header)
	return append(append(attrs, "subject", h.Subject, "sequence", h.Sequence), more...)
}

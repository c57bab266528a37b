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

// Message is the input of a handler: a message of a stream and its position.
type Message struct {
	Subject    string
	Header     nats.Header
	Data       []byte
	Stream     string
	Sequence   uint64    // in the stream
	Deliveries uint64    // including this one
	Stored     time.Time // when the stream stored it
	Taken      time.Time // when this process received it
	Part       int       // index in its batch, from 0
	Body       []byte    // decoded body of a page, if a Chain has it; valid only while the message is handled

	store func(context.Context) (sequence uint64, err error) // stores a message that a Chain passed on
}

// Parts returns the messages of a batch, or m alone if it is not a batch. The error describes a
// damaged batch.
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

// Output holds the messages that a handler publishes. Then is published only after all of First has
// been acknowledged, for messages that promise the others, and Last only after all of Then.
type Output struct {
	First, Then, Last []*nats.Msg
	// Stored, if set, is called with each message that was not batched and its stream sequence.
	Stored func(m *nats.Msg, sequence uint64)
	// Done, if set, is called when all messages have been acknowledged.
	Done func()
	// Free, if set, is called when the messages are no longer needed, whether they were published
	// or not.
	Free func()
}

// steps returns the messages in publishing order: each step is acknowledged before the next is
// sent.
func (o *Output) steps() [][]*nats.Msg { return [][]*nats.Msg{o.First, o.Then, o.Last} }

// Messages returns all messages in publishing order.
func (o *Output) Messages() []*nats.Msg { return slices.Concat(o.steps()...) }

// OnDone adds a function to call when all messages have been acknowledged.
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

// Handler turns one message into others. It is called from several goroutines, may be called again
// with the same message, and must return when ctx is done. Its errors are transient unless they are
// marked with PoisonError.
type Handler func(ctx context.Context, m *Message) (Output, error)

// Runner is the loop of a stateless stage: pull a message, handle it, publish the outputs,
// acknowledge the message. After a crash at any point another instance handles the message again,
// which is harmless because outputs have an identity.
type Runner struct {
	Stage    string
	Bus      *Bus
	Stream   string
	Consumer jetstream.ConsumerConfig
	// Workers handle messages concurrently; Prefetch more messages wait in memory.
	Workers, Prefetch int
	Handle            Handler
	// OnDeadLetter, if set, returns the messages to publish along with the dead letter of m, so
	// that the rest of the pipeline does not wait for m.
	OnDeadLetter func(m *Message, why error) Output
	// Describe returns the context of m for traces and logs. It is called only when something is
	// recorded.
	Describe func(m *Message) MessageContext
	// Drain bounds how long Run continues with in-flight messages after its context is done.
	Drain time.Duration

	pub     *Publisher
	metrics *metrics
	holds   inFlightSet
	delays  delayedRedeliveries
	queue   chan *delivery
	slots   chan struct{}
	wait    time.Duration // delay before redelivery; 0 means the delay of the error
}

// delivery is a message between delivery and acknowledgement.
type delivery struct {
	Message
	nc    *nats.Conn
	reply string // acknowledgement subject
}

// Acknowledgements of a message (ADR-13).
const (
	ack     = "+ACK"
	nak     = "-NAK" // for immediate redelivery
	working = "+WPI"
)

func (d *delivery) sendAck(what string) error { return d.nc.Publish(d.reply, []byte(what)) }

// Run works until ctx is done, then finishes its in-flight messages within Drain, returns the rest
// to the server and returns nil.
func (r *Runner) Run(ctx context.Context) error {
	r.pub = NewPublisher(r.Bus, r.Stage)
	r.metrics = metricsFor(r.Stage)
	for _, outcome := range outcomes {
		r.metrics.handled.WithLabelValues(outcome)
	}
	capacity := r.Workers + r.Prefetch
	r.queue = make(chan *delivery, capacity)
	r.slots = make(chan struct{}, capacity)

	// work outlives ctx by Drain: ctx stops only the pulling.
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

// pull keeps the queue full. It requests only as many messages as there are free slots, so that
// each delivered message is kept alive.
func (r *Runner) pull(ctx context.Context) error {
	var puller *jsclient.Puller // nil if the consumer may be missing
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
		puller = nil // the consumer may have been lost with its server
		_ = sleep.For(ctx, wait)
		wait = min(2*wait, jsclient.MaxRefusedWait)
	}
	return nil
}

// maxClaim is the largest number of free slots to wait for.
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

// acquireSlots takes all free slots and waits until there are some. A request per message would
// cost more than the message; waiting for more than a few dozen slots would leave workers idle.
// Once ctx is done it takes none: a request would then receive messages that the workers return,
// and keep them from other processes for AckWait.
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

// work handles queued messages until the queue is closed. Once stopping is done, it returns
// messages that were not started. It does so only after the last pull request of this process has
// ended, since the server could deliver them to that request.
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

// process handles a message and acknowledges, retries or dead-letters it.
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
		// Only the acknowledgement is missing: the message will be redelivered.
		r.Bus.Log.Debug("not acknowledged", r.about(h, "error", err)...)
	}
}

var errTooOften = PoisonError(fmt.Errorf("delivered more than %d times and never finished: its workers crashed or hung", messages.MaxCrashes))

// Recovered calls a handler and returns a panic as poison, since the same message would make the
// next process panic as well.
func Recovered(handle func() (Output, error)) (Output, error) {
	out, err := panics.Catch(handle)
	if p, ok := errors.AsType[*panics.Error](err); ok {
		err = PoisonError(fmt.Errorf("handler panicked: %v\n%s", p.Value, p.Stack))
	}
	return out, err
}

// publish keeps the order that Output promises: First is stored before Then is sent, and Then
// before Last.
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

// alreadyAcked reports whether a message has been acknowledged. A process that was frozen for
// longer than AckWait may handle a message that another process has finished, and fail because an
// input such as a large body has been removed. Such a message must not go to DEAD.
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

// inFlightSet is the set of messages that a process has received and not acknowledged.
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

// keepAlive reports every held message to the server as in progress.
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

// nackAll returns all held messages, so that other processes need not wait for AckWait.
func (s *inFlightSet) nackAll() { s.each(func(h *delivery) { _ = h.sendAck(nak) }) }

// has reports whether a message with the given sequence or a lower one is held.
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

// about returns the log attributes of a message: its context, its position, and more. It is called
// only for rare log lines.
func (r *Runner) about(h *delivery, more ...any) []any {
	attrs := r.subjectOf(&h.Message).LogAttrsIn(h.Header)
	return append(append(attrs, "subject", h.Subject, "sequence", h.Sequence), more...)
}

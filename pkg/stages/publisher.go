package stages

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/base/sleep"
	"seine/internal/streams/jsclient"
	"seine/pkg/messages"
)

// Publisher publishes to JetStream and retries until the server acknowledges. A full stream or an
// unreachable server makes the caller wait; no message is lost. This is how back-pressure moves
// upstream.
type Publisher struct {
	js      jetstream.JetStream
	bus     *Bus
	log     *slog.Logger
	metrics *metrics
	batches batcher
	waiting atomic.Int64 // publishes that are backing off
}

// NewPublisher returns a publisher for a stage. It is safe for concurrent use.
func NewPublisher(b *Bus, stage string) *Publisher {
	p := &Publisher{js: b.JS, bus: b, log: b.Log, metrics: metricsFor(stage)}
	p.batches.pub = p
	return p
}

// ErrUnpublishable is returned for a message that no server will ever accept, such as one over the
// server's max_payload.
var ErrUnpublishable = errors.New("message cannot be published")

// deadPrefix is the subject prefix of dead letters.
const deadPrefix = "seine.dead."

// Publish returns when the streams have stored all msgs, in any order. Small messages may be sent
// in batches. It returns an error only when ctx is done or for ErrUnpublishable; some msgs may be
// stored then, or be stored later. Messages with an identity may be published again.
func (p *Publisher) Publish(ctx context.Context, msgs ...*nats.Msg) error {
	return p.publish(ctx, msgs, nil)
}

// publish is Publish. It calls stored, if not nil, with the sequence of each message that was not
// batched.
func (p *Publisher) publish(ctx context.Context, msgs []*nats.Msg, stored func(*nats.Msg, uint64)) error {
	var now []*nats.Msg
	var behind []*batched
	var first []string // subjects for which a message in now may have others queued behind it
	for _, m := range msgs {
		if p.batches.takes(m) {
			if item := p.batches.join(m); item != nil {
				behind = append(behind, item)
				continue
			}
			first = append(first, m.Subject)
		}
		now = append(now, m)
	}
	seqs, err := p.PublishSequenced(ctx, now)
	for _, subject := range first {
		p.batches.passOn(subject)
	}
	if err != nil {
		return err
	}
	for i := 0; stored != nil && i < len(now); i++ {
		stored(now[i], seqs[i])
	}
	return awaitStored(ctx, behind)
}

// PublishSequenced is Publish without batches. It returns the stream sequence of each message; for
// a duplicate, the sequence of the original.
func (p *Publisher) PublishSequenced(ctx context.Context, msgs []*nats.Msg) ([]uint64, error) {
	began := time.Now()
	seqs := make([]uint64, len(msgs))
	left := make([]int, len(msgs)) // indexes of msgs that are not stored yet
	var trouble string             // object of a lasting trouble, "" for none
	for i := range left {
		left[i] = i
	}
	for wait := jsclient.MinRefusedWait; len(left) > 0; wait = min(2*wait, jsclient.MaxRefusedWait) {
		refused, cause, err := p.attempt(ctx, msgs, left, seqs)
		if err != nil {
			return seqs, err
		}
		if len(refused) == 0 {
			p.metrics.took.Observe(time.Since(began).Seconds())
			return seqs, nil
		}
		if len(refused) < len(left) {
			wait = jsclient.MinRefusedWait
		}
		left = refused
		if wait == jsclient.MaxRefusedWait && !IsFull(cause) && trouble == "" { // a full stream is normal back-pressure
			trouble = "publish to " + msgs[left[0]].Subject
			defer p.bus.Troubles.Note(trouble, nil)
		}
		if trouble != "" {
			p.bus.Troubles.Note(trouble, cause)
		}
		if err := p.backOff(ctx, msgs[left[0]].Subject, len(left), cause, wait); err != nil {
			return seqs, err
		}
	}
	return seqs, nil
}

// backOff waits before n refused messages are retried.
func (p *Publisher) backOff(ctx context.Context, subject string, n int, cause error, wait time.Duration) error {
	if p.js.Conn().IsClosed() {
		return fmt.Errorf("publish to %s: %w", subject, nats.ErrConnectionClosed)
	}
	labels := p.refused(subject, n, cause, wait)
	p.waiting.Add(1)
	defer p.waiting.Add(-1)
	p.metrics.waiting.Inc()
	defer p.metrics.waiting.Dec()
	began := time.Now()
	err := sleep.For(ctx, wait)
	p.metrics.waited.WithLabelValues(labels...).Add(time.Since(began).Seconds())
	return err
}

// attempt publishes each of the msgs with an index in todo once. It returns the indexes to retry
// and the cause.
func (p *Publisher) attempt(ctx context.Context, msgs []*nats.Msg, todo []int, seqs []uint64) (refused []int, cause, err error) {
	began, refusing := time.Now(), p.bus.refusals.some()
	futures := make([]jetstream.PubAckFuture, len(todo))
	for i, n := range todo {
		f, err := p.js.PublishMsgAsync(msgs[n])
		if err != nil {
			cause = err
			if err = shorten(msgs, n, err); err != nil {
				return nil, nil, err
			}
		}
		futures[i] = f
	}
	for i, n := range todo {
		if futures[i] == nil {
			refused = append(refused, n)
			continue
		}
		ack, err := p.await(ctx, futures[i], refusing, msgs[n].Subject, began)
		switch {
		case err == nil:
			seqs[n] = ack.Sequence
			p.metrics.published.Inc()
			if !ack.Duplicate && strings.HasPrefix(msgs[n].Subject, deadPrefix) {
				p.metrics.dead.Inc()
			}
		case ctx.Err() != nil:
			return nil, nil, context.Cause(ctx)
		default:
			if err := shorten(msgs, n, err); err != nil {
				return nil, nil, err
			}
			refused, cause = append(refused, n), err
		}
	}
	return refused, cause, nil
}

// await waits for the acknowledgement of a message to subject. The server sends none if it denies
// the publish.
func (p *Publisher) await(ctx context.Context, f jetstream.PubAckFuture, refusing <-chan struct{}, subject string, began time.Time) (*jetstream.PubAck, error) {
	var again <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case ack := <-f.Ok():
			return ack, nil
		case err := <-f.Err():
			return nil, err
		case <-refusing:
			refusing = nil
		case <-again:
		}
		if r := p.bus.refusals.publishing(subject, began); r != nil {
			return nil, r
		}
		again = time.After(jsclient.MaxRefusedWait / 4)
	}
}

// Errors of the JetStream API, from its errors.json.
const (
	codeFull           = 10077 // a limit of the stream, with DiscardNew
	codeTooLarge       = 10054 // max_msg_size of the stream
	codeHeaderTooLarge = 10097 // 64 KiB, in any stream
)

// Unpublishable returns an error that wraps ErrUnpublishable if publishing m again after err cannot
// succeed, and nil otherwise. Seine's streams have a max_msg_size only until the frontier restores
// their configuration; the messages of a batch may be smaller than it.
func Unpublishable(m *nats.Msg, err error) error {
	api, _ := errors.AsType[*jetstream.APIError](err)
	limited := api != nil && int(api.ErrorCode) == codeTooLarge && (!strings.HasPrefix(m.Subject, "seine.") || m.Header.Get(messages.HeaderBatch) != "")
	switch {
	case errors.Is(err, nats.ErrMaxPayload), errors.Is(err, nats.ErrBadSubject), limited,
		api != nil && int(api.ErrorCode) == codeHeaderTooLarge:
		return fmt.Errorf("%w: %d bytes to %s: %w", ErrUnpublishable, m.Size(), m.Subject, err)
	}
	return nil
}

// shorten replaces a dead letter that is too large by a brief one, so that a dead letter never
// blocks the messages published with it. It returns an ErrUnpublishable error if publishing msgs[n]
// again cannot succeed.
func shorten(msgs []*nats.Msg, n int, err error) error {
	err = Unpublishable(msgs[n], err)
	if brief := briefLetter(msgs[n]); err != nil && brief != nil {
		msgs[n], err = brief, nil
	}
	return err
}

// IsFull reports whether a publish was refused because its stream is full.
func IsFull(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && int(api.ErrorCode) == codeFull
}

// refused records a refusal and returns its metric labels: stream and reason.
func (p *Publisher) refused(subject string, n int, cause error, wait time.Duration) []string {
	reason := "unavailable"
	if IsFull(cause) {
		reason = "full"
	}
	kind := strings.SplitN(subject, ".", 3)
	labels := []string{kind[min(1, len(kind)-1)], reason}
	p.metrics.refused.WithLabelValues(labels...).Add(float64(n))
	if wait < jsclient.MaxRefusedWait {
		return labels
	}
	level := slog.LevelWarn
	if reason == "full" { // a later stage is slow: normal back-pressure
		level = slog.LevelInfo
	}
	p.log.Log(context.Background(), level, "publish is held back", "crawl", messages.CrawlOf(subject), "subject", subject, "messages", n, "error", cause)
	return labels
}

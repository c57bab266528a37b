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
)

// Publisher publishes to JetStream until it is acknowledged. A stream that is
// full, or a server that is away, makes the caller wait, never lose: that is
// how pressure walks upstream.
type Publisher struct {
	js      jetstream.JetStream
	log     *slog.Logger
	metrics *metrics
	waiting atomic.Int64 // publishes held back now
}

// NewPublisher returns a publisher for the stage. It is safe for concurrent use.
func NewPublisher(b *Bus, stage string) *Publisher {
	return &Publisher{js: b.JS, log: b.Log, metrics: metricsFor(stage)}
}

// ErrUnpublishable is returned for a message that no server will ever take,
// such as one over the server's max_payload.
var ErrUnpublishable = errors.New("message cannot be published")

// Waits between attempts to publish what was refused.
const (
	minRefusedWait = 10 * time.Millisecond
	maxRefusedWait = time.Second
)

// Publish returns when the streams have stored all msgs, in any order. It
// returns an error only when ctx is done or for ErrUnpublishable; some msgs may
// be stored then. Messages with an identity may be published again.
func (p *Publisher) Publish(ctx context.Context, msgs ...*nats.Msg) error {
	_, err := p.PublishSequenced(ctx, msgs)
	return err
}

// PublishSequenced is Publish, and returns the sequence that each message has
// in its stream; that of the first one where JetStream knew a repeat.
func (p *Publisher) PublishSequenced(ctx context.Context, msgs []*nats.Msg) ([]uint64, error) {
	seqs := make([]uint64, len(msgs))
	left := make([]int, len(msgs)) // indexes of msgs still to publish
	for i := range left {
		left[i] = i
	}
	for wait := minRefusedWait; len(left) > 0; wait = min(2*wait, maxRefusedWait) {
		refused, cause, err := p.attempt(ctx, msgs, left, seqs)
		if err != nil || len(refused) == 0 {
			return seqs, err
		}
		if len(refused) < len(left) {
			wait = minRefusedWait
		}
		left = refused
		if err := p.hold(ctx, msgs[left[0]].Subject, len(left), cause, wait); err != nil {
			return seqs, err
		}
	}
	return seqs, nil
}

// hold waits before n refused messages are published again.
func (p *Publisher) hold(ctx context.Context, subject string, n int, cause error, wait time.Duration) error {
	if p.js.Conn().IsClosed() {
		return fmt.Errorf("publish to %s: %w", subject, nats.ErrConnectionClosed)
	}
	p.refused(subject, n, cause, wait)
	p.waiting.Add(1)
	defer p.waiting.Add(-1)
	return Sleep(ctx, wait)
}

// attempt publishes once those of msgs that todo names, and returns the ones
// to publish again and why.
func (p *Publisher) attempt(ctx context.Context, msgs []*nats.Msg, todo []int, seqs []uint64) (refused []int, cause, err error) {
	futures := make([]jetstream.PubAckFuture, len(todo))
	for i, n := range todo {
		f, err := p.js.PublishMsgAsync(msgs[n])
		if err != nil {
			cause = err
			if err = unpublishable(msgs[n], err); err != nil {
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
		select {
		case <-ctx.Done():
			return nil, nil, context.Cause(ctx)
		case ack := <-futures[i].Ok():
			seqs[n] = ack.Sequence
			p.metrics.published.Inc()
		case e := <-futures[i].Err():
			if err := unpublishable(msgs[n], e); err != nil {
				return nil, nil, err
			}
			refused, cause = append(refused, n), e
		}
	}
	return refused, cause, nil
}

// Errors of the JetStream API, from its errors.json.
const (
	codeFull           = 10077 // a limit of the stream, with DiscardNew
	codeTooLarge       = 10054 // max_msg_size of the stream
	codeHeaderTooLarge = 10097 // 64 KiB, in any stream
)

// unpublishable returns an error when publishing m again cannot help.
func unpublishable(m *nats.Msg, err error) error {
	var api *jetstream.APIError
	switch {
	case errors.Is(err, nats.ErrMaxPayload), errors.Is(err, nats.ErrBadSubject),
		errors.As(err, &api) && (int(api.ErrorCode) == codeTooLarge || int(api.ErrorCode) == codeHeaderTooLarge):
		return fmt.Errorf("%w: %d bytes to %s: %w", ErrUnpublishable, m.Size(), m.Subject, err)
	}
	return nil
}

// IsFull reports whether a publish was refused because its stream is full.
func IsFull(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && int(api.ErrorCode) == codeFull
}

func (p *Publisher) refused(subject string, n int, cause error, wait time.Duration) {
	reason := "unavailable"
	if IsFull(cause) {
		reason = "full"
	}
	kind := strings.SplitN(subject, ".", 3)
	p.metrics.refused.WithLabelValues(kind[min(1, len(kind)-1)], reason).Add(float64(n))
	if wait >= maxRefusedWait {
		p.log.Warn("publish is held back", "subject", subject, "messages", n, "reason", cause)
	}
}

package jsclient

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	// pullWait is how long the server keeps a request for messages.
	pullWait = 5 * time.Second
	// pullLate is how much later it may say that there are no more.
	pullLate = time.Second
	// pullEnd bounds the wait for what was on its way when a request is broken off.
	pullEnd = 2 * time.Second
)

// Puller asks a consumer for messages, with one request at a time. The
// client's Fetch does not suit: when its context ends it drops what has been sent
// and not been read yet, which comes again only after AckWait. Nor does its
// Messages: where the last message that fits into the bytes of a request fills
// them exactly, the server ends the request without a word, and the client
// misses it only when two heartbeats did not come (nats.go v1.55.0,
// nats-server 2.15.2).
type Puller struct {
	nc       *nats.Conn
	subject  string
	maxBatch int // of the consumer, 0 for any
}

// Batch is the most that one request asks for.
type Batch struct {
	Messages int
	Bytes    int // of all together, more than the largest message has; 0 for any
}

// NewPuller returns one for a consumer, as it is now.
func NewPuller(c *Client, consumer *jetstream.ConsumerInfo) *Puller {
	return &Puller{nc: c.NC, subject: c.Prefix + ".CONSUMER.MSG.NEXT." + consumer.Stream + "." + consumer.Name, maxBatch: consumer.Config.MaxRequestBatch}
}

// PullBytes bounds what one request asks for: more than the largest message has, whatever max_payload was when it was stored, and
// little more, so that the server can hold it for the connection (max_pending, which is never below max_payload).
func PullBytes(nc *nats.Conn) int { return max(1<<20, int(nc.MaxPayload())) + 1<<10 }

// Pull asks for a batch of messages and gives those that come to take, until that is all of
// it, the server has no more for pullWait, or ctx is done. When it returns, no
// request is left that the server could answer. The error says that the consumer,
// or who serves it, is not there.
func (p *Puller) Pull(ctx context.Context, b Batch, take func(*nats.Msg)) error {
	if p.maxBatch > 0 {
		b.Messages = min(b.Messages, p.maxBatch)
	}
	answers := make(chan *nats.Msg, 2*b.Messages) // messages, and some words about them
	sub, err := p.nc.ChanSubscribe(p.nc.NewInbox(), answers)
	if err != nil {
		return fmt.Errorf("subscribe to the answers: %w", err)
	}
	defer func() { _ = sub.Unsubscribe() }()
	request := fmt.Appendf(nil, `{"batch":%d,"max_bytes":%d,"expires":%d}`, b.Messages, b.Bytes, pullWait)
	if err := p.nc.PublishRequest(p.subject, sub.Subject, request); err != nil {
		return fmt.Errorf("ask for messages: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, pullWait+pullLate)
	defer cancel()
	left := b
	defer func() {
		if left.Bytes < b.Bytes/2 { // the server may count them as pending still: what comes next would be too much
			_ = p.nc.FlushWithContext(ctx)
		}
	}()
	for left.Messages > 0 && (b.Bytes == 0 || left.Bytes != 0) {
		select {
		case m := <-answers:
			if isMessage(m) {
				take(m)
				left.Messages, left.Bytes = left.Messages-1, left.Bytes-m.Size() // as the server counts
			} else if over, err := ended(m); err != nil {
				return err
			} else if over {
				takeOvertaken(ctx, answers, left.Messages-notSent(m, left.Messages), take)
				if ctx.Err() != nil {
					drainSubscription(sub, answers, take)
				}
				return nil
			}
		case <-ctx.Done():
			drainSubscription(sub, answers, take)
			return nil
		}
	}
	return nil
}

// takeOvertaken takes so many messages that the server has sent before it said that there are no more: in a cluster it sends those of
// a consumer with replicas when enough of them know, and says so at once (nats-server 2.15.2).
func takeOvertaken(ctx context.Context, answers <-chan *nats.Msg, n int, take func(*nats.Msg)) {
	late := time.NewTimer(pullEnd)
	defer late.Stop()
	for n > 0 {
		select {
		case m := <-answers:
			if isMessage(m) {
				take(m)
				n--
			}
		case <-late.C: // they are lost
			return
		case <-ctx.Done():
			return
		}
	}
}

// notSent is how many of the messages that were asked for the server will not send; all that have not come if it does not tell.
func notSent(m *nats.Msg, left int) int {
	n, err := strconv.Atoi(m.Header.Get("Nats-Pending-Messages"))
	if err != nil {
		return left
	}
	return n
}

// drainSubscription ends a subscription, and gives what the server had sent before it heard of
// that to take.
func drainSubscription(sub *nats.Subscription, answers <-chan *nats.Msg, take func(*nats.Msg)) {
	over := make(chan struct{}, 1)
	sub.SetClosedHandler(func(string) {
		select {
		case over <- struct{}{}:
		default:
		}
	})
	if sub.Drain() == nil {
		select {
		case <-over:
		case <-time.After(pullEnd):
		}
	}
	for {
		select {
		case m := <-answers:
			if isMessage(m) {
				take(m)
			}
		default:
			return
		}
	}
}

// isMessage reports whether an answer is a message of the stream: those alone have a
// subject to be acknowledged at.
func isMessage(m *nats.Msg) bool { return m.Reply != "" }

// ended reports whether an answer that is no message says that none will come any
// more (ADR-37), and why.
func ended(m *nats.Msg) (over bool, err error) {
	status, description := m.Header.Get("Status"), m.Header.Get("Description")
	switch {
	case status == "" || strings.HasPrefix(status, "1"): // 100: a sign of life
		return false, nil
	case status == "404" || status == "408": // no messages, for so long
		return true, nil
	case description == "Batch Completed" || description == "Message Size Exceeds MaxBytes": // all were sent, or the next does not fit
		return true, nil
	case status == "503":
		return true, nats.ErrNoResponders
	}
	return true, fmt.Errorf("the server ends the request: %s %s", status, description)
}

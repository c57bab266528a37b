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
	// pullLate is how much later than pullWait the server may report that there are no more.
	pullLate = time.Second
	// pullEnd limits the wait for messages on their way when a request is aborted.
	pullEnd = 2 * time.Second
)

// Puller requests messages of a consumer, one request at a time. The client's Fetch is unsuitable:
// when its context ends it drops messages that were received but not read, which are redelivered
// only after AckWait. Its Messages is too: if the last message that fits into the bytes of a
// request fills them exactly, the server ends the request silently, and the client notices only
// when two heartbeats are missing (nats.go v1.55.0, nats-server 2.15.2).
type Puller struct {
	nc       *nats.Conn
	subject  string
	maxBatch int // limit of the consumer, 0 for none
}

// Batch is the maximum size of one request.
type Batch struct {
	Messages int
	Bytes    int // total, more than the size of the largest message; 0 for no limit
}

// NewPuller returns a Puller for a consumer with its current configuration.
func NewPuller(c *Client, consumer *jetstream.ConsumerInfo) *Puller {
	return &Puller{nc: c.NC, subject: c.Prefix + ".CONSUMER.MSG.NEXT." + consumer.Stream + "." + consumer.Name, maxBatch: consumer.Config.MaxRequestBatch}
}

// PullBytes returns the maximum bytes of one request. They exceed the largest message, whatever
// max_payload was when it was stored, but only slightly, so that the server can buffer them for the
// connection (max_pending, which is never below max_payload).
func PullBytes(nc *nats.Conn) int { return max(1<<20, int(nc.MaxPayload())) + 1<<10 }

// Pull requests a batch of messages and passes them to take. It returns when the batch is complete,
// the server has had no more for pullWait, or ctx is done. When it returns, the server has no open
// request left. The error says that the consumer, or its server, is unavailable.
func (p *Puller) Pull(ctx context.Context, b Batch, take func(*nats.Msg)) error {
	if p.maxBatch > 0 {
		b.Messages = min(b.Messages, p.maxBatch)
	}
	answers := make(chan *nats.Msg, 2*b.Messages) // messages, and status messages
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
		if left.Bytes < b.Bytes/2 { // the server may still count them as pending: the next batch would be too much
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

// takeOvertaken takes up to n messages that the server sent before it reported that there are no
// more. In a cluster it delays messages of a replicated consumer until enough replicas know, but
// sends the report at once (nats-server 2.15.2).
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

// notSent returns how many of the requested messages the server will not send. If the server does
// not say, that is all that have not arrived.
func notSent(m *nats.Msg, left int) int {
	n, err := strconv.Atoi(m.Header.Get("Nats-Pending-Messages"))
	if err != nil {
		return left
	}
	return n
}

// drainSubscription ends a subscription, and passes messages that the server had sent before that
// to take.
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

// isMessage reports whether an answer is a message of the stream: only those have a reply subject
// for acknowledgements.
func isMessage(m *nats.Msg) bool { return m.Reply != "" }

// ended reports whether a status message says that no more messages will come (ADR-37), and why.
func ended(m *nats.Msg) (over bool, err error) {
	status, description := m.Header.Get("Status"), m.Header.Get("Description")
	switch {
	case status == "" || strings.HasPrefix(status, "1"): // 100: a heartbeat
		return false, nil
	case status == "404" || status == "408": // no messages within the requested time
		return true, nil
	case description == "Batch Completed" || description == "Message Size Exceeds MaxBytes": // all were sent, or the next does not fit
		return true, nil
	case status == "503":
		return true, nats.ErrNoResponders
	}
	return true, fmt.Errorf("the server ends the request: %s %s", status, description)
}

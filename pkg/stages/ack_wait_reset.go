package stages

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nuid"

	"seine/internal/base/jsontext"
	"seine/internal/base/sleep"
	"seine/pkg/messages"
)

// A server redelivers messages that were not acknowledged within AckWait, measured by the time of
// day (nats-server 2.15.2, checkPending). Suppose its clock was an hour ahead at delivery and has
// been corrected since: then the message of a dead worker is due in an hour. The workers cannot
// tell whose clock is wrong. Together, however, they know whether any of them holds the message
// that a consumer waits for. An in-progress acknowledgement (`+WPI`) restarts the server's count by
// its present clock: a message that no worker holds is then due an AckWait later, and for a held
// one nothing changes.
//
// A message that no worker holds may also wait because its last worker asked for a delayed
// redelivery (`-NAK` with a delay), and must not come sooner. Workers remember the messages that
// they returned this way, and report them. A worker that has ended since cannot, so nothing is
// reset until the longest delay has passed without a worker that held or reported the message.

// holdReply is the answer of a process to a query about a message of a consumer.
type holdReply struct {
	Process string `json:"process"`
	Holds   bool   `json:"holds"` // whether it holds the message or an earlier one
	// Delayed are the sequences of messages that the process returned with a delay and that are not
	// due yet.
	Delayed []uint64 `json:"delayed,omitempty"`
}

// maxReclaimed bounds the number of messages whose ack wait is reset at once. Later checks reset
// the rest.
const maxReclaimed = 1 << 16

// stuckDetector resets the ack wait of messages that the server waits for and that no worker of a
// consumer holds.
type stuckDetector struct {
	*Runner
	id string
	// The consumer has been waiting since a time for the message after floor, and had been sent
	// messages up to top then. The clock is monotonic.
	floor, top uint64
	since      time.Time
	unheld     time.Time // since when no worker holds or delays it; zero if one does
	delayed    map[uint64]bool
}

// startStuckDetector answers queries about held messages until stop is called, and checks for stuck
// ones every ack wait until ctx is done.
func (r *Runner) startStuckDetector(ctx context.Context) (stop func(), err error) {
	c := &stuckDetector{Runner: r, id: nuid.Next()}
	stop, err = c.startReplies()
	if err != nil {
		return nil, err
	}
	go func() {
		for sleep.For(ctx, r.ackWait()) == nil {
			if err := c.checkStuck(ctx); err != nil && ctx.Err() == nil {
				r.Bus.Log.Debug("cannot search for messages that no process holds", "consumer", r.Consumer.Durable, "error", err)
			}
		}
	}()
	return stop, nil
}

// startReplies answers queries about the messages that this process holds, until stop is called.
func (d *stuckDetector) startReplies() (stop func(), err error) {
	s, err := d.Bus.NC.Subscribe(messages.SubjectInFlight(d.Consumer.Durable), d.replyHolds)
	if err != nil {
		return nil, fmt.Errorf("answer queries for held messages: %w", err)
	}
	return func() { _ = s.Unsubscribe() }, nil
}

func (r *Runner) ackWait() time.Duration { return cmp.Or(r.Consumer.AckWait, messages.AckWait) }

// longestWait is the longest delay before the redelivery of a message.
func (r *Runner) longestWait() time.Duration { return cmp.Or(r.wait, maxRetryWait) }

func (d *stuckDetector) replyHolds(m *nats.Msg) {
	seq, err := strconv.ParseUint(string(m.Data), 10, 64)
	if err == nil {
		err = m.Respond(messages.Encode(holdReply{d.id, d.holds.has(seq), d.delays.waiting()}))
	}
	if err != nil {
		d.Bus.Log.Debug("cannot report the in-flight messages of this process", "error", err)
	}
}

// checkStuck checks whether the consumer still waits for the same message as two AckWaits ago. If
// no worker has held that message for the longest redelivery delay plus an AckWait, it resets the
// ack wait of all messages that the server had sent by then.
func (d *stuckDetector) checkStuck(ctx context.Context) error {
	consumer, err := d.Bus.JS.Consumer(ctx, d.Stream, d.Consumer.Durable)
	if err != nil {
		return err
	}
	info := consumer.CachedInfo()
	if info.NumAckPending == 0 || info.AckFloor.Stream != d.floor || d.since.IsZero() {
		d.floor, d.top, d.since, d.unheld = info.AckFloor.Stream, info.Delivered.Stream, time.Now(), time.Time{}
		return nil
	}
	if time.Since(d.since) < 2*d.ackWait() {
		return nil
	}
	held, first, err := d.queryHolders(ctx, d.floor+1)
	if err != nil {
		return err
	}
	switch {
	case held:
		d.unheld = time.Time{}
		return nil
	case d.unheld.IsZero():
		d.unheld = time.Now()
	}
	if !first || time.Since(d.unheld) < d.longestWait()+d.ackWait() {
		return nil
	}
	d.since = time.Time{} // wait until the redelivery is due before the next check
	return d.resetAckWait()
}

// queryHolders asks all workers whether they hold a message or returned it with a delay. first
// reports whether this worker has the lowest ID of those that answer: one is enough to reset the
// wait. A worker that does not receive its own answer is not the first.
func (d *stuckDetector) queryHolders(ctx context.Context, seq uint64) (held, first bool, err error) {
	var heard, others bool
	d.delayed = make(map[uint64]bool)
	question := strconv.AppendUint(nil, seq, 10)
	err = ScatterGather(ctx, d.Bus.NC, messages.SubjectInFlight(d.Consumer.Durable), question, func(data []byte) {
		var h holdReply
		if jsontext.Unmarshal(data, &h) != nil {
			return
		}
		for _, s := range h.Delayed {
			d.delayed[s] = true
		}
		held = held || h.Holds || d.delayed[seq]
		heard = heard || h.Process == d.id
		others = others || h.Process < d.id
	})
	return held, heard && !others, err
}

// Holds reports whether any process that consumes from durable holds a message up to a sequence. A
// process that does not answer counts as holding none.
func (b *Bus) Holds(ctx context.Context, durable string, seq uint64) (held bool, err error) {
	err = ScatterGather(ctx, b.NC, messages.SubjectInFlight(durable), strconv.AppendUint(nil, seq, 10), func(data []byte) {
		var h holdReply
		held = held || jsontext.Unmarshal(data, &h) == nil && h.Holds
	})
	return held, err
}

// resetAckWait reports all messages that the server may wait for as in progress, except delayed
// ones. The server ignores acknowledged messages.
func (d *stuckDetector) resetAckWait() error {
	for seq := d.floor + 1; seq <= min(d.top, d.floor+maxReclaimed); seq++ {
		if d.delayed[seq] {
			continue
		}
		// The server uses only the stream sequence (progressUpdate).
		subject := fmt.Sprintf("$JS.ACK.%s.%s.1.%d.1.0.0", d.Stream, d.Consumer.Durable, seq)
		if err := d.Bus.NC.Publish(subject, []byte(working)); err != nil {
			return fmt.Errorf("reset the ack wait of message %d: %w", seq, err)
		}
	}
	d.metrics.ackWaitResets.Inc()
	d.Bus.Log.Warn("no process holds a message that the server considers in flight, requesting redelivery: did its clock change?",
		"stream", d.Stream, "consumer", d.Consumer.Durable, "sequence", d.floor+1)
	return nil
}

package stages

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"seine/pkg/messages"
)

// failed handles a message whose processing failed: it is retried after a delay, or goes to DEAD.
//
//   - A Runner that is being stopped returns the message at once, whatever err is.
//   - Otherwise err and the number of deliveries decide: retryAfter (message_retry.go). err is the handler's error or poison: a
//     panic (Recovered), an output that no server accepts (markPublish), or a message that was delivered more than
//     messages.MaxCrashes times and never finished (errTooOften), all in runner.go.
//   - A message bound for DEAD that another process has acknowledged meanwhile counts as done (alreadyAcked).
//
// A stage publishes further messages by its OnDeadLetter (the fetcher's compose_messages.go, the
// parser's parser.go).
//
// Some dead letters are created elsewhere. For one part of a message whose other parts succeeded:
// the frontier's deadParts (intake.go: a line of SEEDS; partition_loop.go: a URL of URLS) and the
// parser's deadLetter (record_messages.go: a record of a page). For partition readers, which have
// no Runner: the frontier's partition_loop.go and the writer's partition_writer.go. A Publisher
// shortens a letter that no server would accept in full: briefLetter. If a partition reader fails
// with an error that is not about one message, it sends nothing to DEAD: it restarts from its
// committed state, without a limit.
//
// A letter is a messages.Dead. Users read DEAD and replay its messages with
// internal/ops/deadletters and "seine dead" (cmd/seine/dead_letters.go).
func (r *Runner) failed(ctx context.Context, h *delivery, err error) (outcome string, _ error) {
	if ctx.Err() != nil { // stopped: other processes need not wait AckWait for it
		return "cut", h.sendAck(nak)
	}
	if wait, ok := retryAfter(err, h.Deliveries); ok {
		wait = cmp.Or(r.wait, wait)
		r.Bus.Log.Info("retrying message", r.about(h, "tries", h.Deliveries, "wait", wait, "error", err)...)
		r.delays.add(h.Sequence, wait)
		return "retried", h.sendAck(fmt.Sprintf(`%s {"delay":%d}`, nak, wait))
	}
	if r.alreadyAcked(ctx, h) {
		r.Bus.Log.Info("message was acknowledged by another process", r.about(h, "error", err)...)
		return "done", nil
	}
	r.Bus.Log.Warn("message goes to DEAD", r.about(h, "tries", h.Deliveries, "error", err)...)
	return "dead", r.publishDead(ctx, h, err)
}

// deadLetterExtras calls OnDeadLetter, and returns an empty Output if it panics.
func (r *Runner) deadLetterExtras(m *Message, why error) (out Output) {
	defer func() {
		if v := recover(); v != nil {
			r.Bus.Log.Error("panic in OnDeadLetter", "subject", m.Subject, "sequence", m.Sequence, "error", fmt.Sprint(v))
			out = Output{}
		}
	}()
	if r.OnDeadLetter != nil {
		out = r.OnDeadLetter(m, why)
	}
	return out
}

// publishDead publishes the dead letter and its accompanying messages, then terminates the message.
func (r *Runner) publishDead(ctx context.Context, h *delivery, why error) error {
	out := r.deadLetterExtras(&h.Message, why)
	out.First = append(out.First, DeadLetter(r.Stage, &h.Message, why))
	if err := r.publish(ctx, out); err != nil {
		return err
	}
	return h.sendAck("+TERM " + messages.Clip(why.Error()))
}

// DeadLetter returns the DEAD message that reports why stage abandoned m.
func DeadLetter(stage string, m *Message, why error) *nats.Msg {
	d := DeadOf(stage, m, why.Error())
	return d.Msg()
}

// DeadOf returns the content of a dead letter of m.
func DeadOf(stage string, m *Message, reason string) messages.Dead {
	return messages.Dead{
		Stage: stage, Crawl: messages.CrawlOf(m.Subject), Reason: reason,
		Subject: m.Subject, Stream: m.Stream, Sequence: m.Sequence, Stored: m.Stored, Tries: m.Deliveries,
		Time: time.Now(), Header: m.Header, Payload: m.Data, InBatch: m.Part,
	}
}

// briefPayload is how many bytes of payload a shortened dead letter keeps.
const briefPayload = 4 << 10

// briefLetter returns a dead letter with only the short Seine-Dead-* headers and the beginning of
// the payload. It returns nil if m is not a dead letter or is already brief.
func briefLetter(m *nats.Msg) *nats.Msg {
	if !strings.HasPrefix(m.Subject, deadPrefix) || m.Header.Get(messages.HeaderDeadSize) != "" {
		return nil
	}
	brief := nats.NewMsg(m.Subject)
	for k, v := range m.Header {
		if strings.HasPrefix(k, "Seine-Dead-") && len(v[0]) <= messages.MaxText || k == nats.MsgIdHdr {
			brief.Header[k] = v
		}
	}
	brief.Header.Set(messages.HeaderDeadSize, strconv.Itoa(len(m.Data)))
	brief.Data = m.Data[:min(len(m.Data), briefPayload)]
	return brief
}

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

// failed decides what becomes of a message that was not done: it comes again after a wait, or goes to DEAD.
//
//   - A Runner that is being ended gives it back at once, whatever err is.
//   - Otherwise err and the number of deliveries decide: retryAfter (message_retry.go). Err is the handler's; or poison: a
//     panic (Recovered), an output that no server accepts (markPublish), or a message that was delivered more than
//     messages.MaxCrashes times and never finished (errTooOften), all in runner.go.
//   - What would go to DEAD and another has acknowledged meanwhile is done (alreadyAcked).
//
// What else a stage then publishes is in its OnDeadLetter (the fetcher's compose_messages.go, the parser's parser.go).
//
// Some dead letters are not made here: of one part of a message that is done otherwise, the frontier's deadParts (intake.go:
// a line of SEEDS; partition_loop.go: a URL of URLS) and the parser's deadLetter (record_messages.go: a record of a page);
// and those of the readers of a partition, which have no Runner: the frontier's partition_loop.go and the writer's
// partition_writer.go. A Publisher shortens a letter that no server would take whole: briefLetter. An error of
// theirs that is not about one message sends nothing to DEAD: they start again from what is committed, without a limit.
//
// A letter is a messages.Dead. People read DEAD, and give messages to their stages again, by internal/ops/deadletters
// and "seine dead" (cmd/seine/dead_letters.go).
func (r *Runner) failed(ctx context.Context, h *delivery, err error) (outcome string, _ error) {
	if ctx.Err() != nil { // cut: another need not wait AckWait for it
		return "cut", h.sendAck(nak)
	}
	if wait, ok := retryAfter(err, h.Deliveries); ok {
		wait = cmp.Or(r.wait, wait)
		r.Bus.Log.Info("will try again", r.about(h, "tries", h.Deliveries, "wait", wait, "error", err)...)
		r.delays.add(h.Sequence, wait)
		return "retried", h.sendAck(fmt.Sprintf(`%s {"delay":%d}`, nak, wait))
	}
	if r.alreadyAcked(ctx, h) {
		r.Bus.Log.Info("another has done the message meanwhile", r.about(h, "error", err)...)
		return "done", nil
	}
	r.Bus.Log.Warn("message goes to DEAD", r.about(h, "tries", h.Deliveries, "error", err)...)
	return "dead", r.publishDead(ctx, h, err)
}

// deadLetterExtras asks OnDeadLetter, and does without it if it cannot handle the message either.
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

// publishDead publishes the dead letter and what must go with it, then lets go of the
// message.
func (r *Runner) publishDead(ctx context.Context, h *delivery, why error) error {
	out := r.deadLetterExtras(&h.Message, why)
	out.First = append(out.First, DeadLetter(r.Stage, &h.Message, why))
	if err := r.publish(ctx, out); err != nil {
		return err
	}
	return h.sendAck("+TERM " + messages.Clip(why.Error()))
}

// DeadLetter returns the message for DEAD that says why stage gave up on m.
func DeadLetter(stage string, m *Message, why error) *nats.Msg {
	d := DeadOf(stage, m, why.Error())
	return d.Msg()
}

// DeadOf returns what a dead letter of m says.
func DeadOf(stage string, m *Message, reason string) messages.Dead {
	return messages.Dead{
		Stage: stage, Crawl: messages.CrawlOf(m.Subject), Reason: reason,
		Subject: m.Subject, Stream: m.Stream, Sequence: m.Sequence, Stored: m.Stored, Tries: m.Deliveries,
		Time: time.Now(), Header: m.Header, Payload: m.Data, InBatch: m.Part,
	}
}

// briefPayload is how many bytes of a payload a dead letter has that was too large with all of it.
const briefPayload = 4 << 10

// briefLetter returns a dead letter without the headers of the message, and with no more than the beginning of its payload. It
// returns nil if m is no dead letter, or is brief already.
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

package stages

import (
	"context"
	"testing"

	"github.com/nats-io/nats.go"

	"seine/internal/base/tracing"
	"seine/internal/testing/await"
	"seine/internal/testing/natstest"
	"seine/pkg/messages"
)

const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

// A process without its own traces passes on the trace of the message, which would otherwise end
// there. A message without a trace must have no overhead.
func TestRunnerHandsOnTheTrace(t *testing.T) {
	_, b := open(t)
	r := newRunner(b, func(context.Context, *Message) (Output, error) {
		return Output{First: []*nats.Msg{msg(records, "", "record")}}, nil
	})
	in := msg("seine.pages.c.0", "c.1", "page")
	in.Header.Set(tracing.Header, traceparent)
	if err := NewPublisher(b, "test").Publish(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	j := await.Start(t, r.Run)
	await.Eventually(t, "the record is there", func() bool { return len(natstest.Stored(t, b.JS, messages.StreamRecords)) == 1 })
	if err := j.End(); err != nil {
		t.Fatal(err)
	}
	s, err := b.JS.Stream(t.Context(), messages.StreamRecords)
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.GetLastMsgForSubject(t.Context(), records)
	if err != nil || out.Header.Get(tracing.Header) != traceparent {
		t.Errorf("the record came with %q (%v)", out.Header.Get(tracing.Header), err)
	}
	h := &delivery{Message: Message{Header: nats.Header{"Nats-Msg-Id": {"c.1"}}}}
	ctx := t.Context()
	if n := testing.AllocsPerRun(100, func() {
		ctx, span := r.startSpan(ctx, h)
		ctx, publishing := r.publishing(ctx, Output{})
		published(publishing, nil)
		endSpan(span, "done")
		_ = ctx
	}); n != 0 {
		t.Errorf("a message without a trace costs %v allocations", n)
	}
}

// A message that just fits is sent without its trace, rather than to DEAD.
func TestTraceNeverMakesAMessageTooLarge(t *testing.T) {
	_, b := open(t)
	most := int(b.NC.MaxPayload())
	for size, want := range map[int]bool{most - 200: true, most - 20: false} {
		m := &nats.Msg{Subject: records, Data: make([]byte, size)}
		b.Traced(m, traceparent)
		if got := m.Header.Get(tracing.Header) != ""; got != want {
			t.Errorf("with %d bytes of %d it has a trace: %v", size, most, got)
		}
		if err := NewPublisher(b, "test").Publish(t.Context(), m); err != nil {
			t.Errorf("with %d bytes of %d: %v", size, most, err)
		}
	}
}

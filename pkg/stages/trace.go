package stages

import (
	"context"
	"log/slog"
	"strings"

	"github.com/nats-io/nats.go"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"seine/internal/base/tracing"
	"seine/internal/base/weburl"
	"seine/pkg/messages"
)

// MessageContext identifies the subject of a message, as far as it is known.
type MessageContext struct {
	Crawl, URL string
	Visit      messages.Visit
	Attempt    int
}

// verbs are the names of the spans for a stage's work on one message.
var verbs = map[string]string{
	messages.StageFetcher: "fetch", messages.StageRenderer: "render", messages.StageParser: "parse", messages.StageFrontier: "intake",
}

// startSpan starts the span of a message, nil if its visit is not traced.
func (r *Runner) startSpan(ctx context.Context, h *delivery) (context.Context, trace.Span) {
	parent, ok := tracing.Parent(h.Header)
	if !ok {
		return ctx, nil
	}
	ctx, span := r.Bus.Tracer.Begin(ctx, parent, verbs[r.Stage], trace.WithTimestamp(h.Taken))
	if !span.IsRecording() {
		return ctx, nil
	}
	setMessage(span, r.Stage, &h.Message, r.subjectOf(&h.Message))
	return ctx, span
}

// setMessage sets the attributes of a message and its context in the span of a stage.
func setMessage(span trace.Span, stage string, m *Message, about MessageContext) {
	span.SetAttributes(MessageAttributes(stage, m)...)
	span.SetAttributes(about.Attributes()...)
}

// endSpan ends the span of a message.
func endSpan(span trace.Span, outcome string) {
	if span == nil {
		return
	}
	span.SetAttributes(tracing.Outcome.String(outcome))
	if outcome != "done" {
		tracing.Fail(span, outcome, "")
	}
	span.End()
}

// publishing starts the span of the outputs of a message, and links them to it.
func (r *Runner) publishing(ctx context.Context, out Output) (context.Context, trace.Span) {
	ctx, span := tracing.Child(ctx, "publish", trace.SpanKindProducer)
	text := tracing.Text(ctx)
	if text == "" {
		return ctx, span
	}
	msgs := out.Messages()
	for _, m := range msgs {
		r.Bus.Traced(m, text)
	}
	if span != nil {
		span.SetAttributes(tracing.NATS(), tracing.Operation.String(tracing.Send), tracing.BatchCount.Int(len(msgs)))
	}
	return ctx, span
}

// Traced adds a span's trace context, as from tracing.Text, to a message. It leaves a message
// unchanged that would then be too large for the server.
func (b *Bus) Traced(m *nats.Msg, text string) {
	if int64(m.Size()+tracing.HeaderSize) > b.NC.MaxPayload() {
		return
	}
	if m.Header == nil {
		m.Header = make(nats.Header, 1)
	}
	m.Header[tracing.Header] = []string{text}
}

func published(span trace.Span, err error) {
	if span == nil {
		return
	}
	if err != nil {
		tracing.Fail(span, "refused", err.Error())
	}
	span.End()
}

// MessageAttributes returns the attributes of a span for a stage's work on m.
func MessageAttributes(stage string, m *Message) []attribute.KeyValue {
	return []attribute.KeyValue{
		tracing.Stage.String(stage), tracing.NATS(), tracing.Operation.String(tracing.Process),
		tracing.Destination.String(m.Stream), tracing.MessageID.String(m.Header.Get(nats.MsgIdHdr)),
		tracing.MessageSize.Int(len(m.Data)), tracing.Sequence.Int64(int64(m.Sequence)),
		tracing.Deliveries.Int64(int64(m.Deliveries)), tracing.Crawl.String(messages.CrawlOf(m.Subject)),
	}
}

func (r *Runner) subjectOf(m *Message) MessageContext {
	s := MessageContext{}
	if r.Describe != nil {
		s = r.Describe(m)
	}
	if s.Crawl == "" {
		s.Crawl = messages.CrawlOf(m.Subject)
	}
	return s
}

// Attributes returns the span attributes of the context.
func (c MessageContext) Attributes() []attribute.KeyValue {
	attrs := []attribute.KeyValue{tracing.Crawl.String(c.Crawl)}
	if !c.Visit.IsZero() {
		attrs = append(attrs, tracing.VisitKey.String(c.Visit.String()))
	}
	if c.URL != "" {
		attrs = append(attrs, tracing.URL(c.URL))
	}
	if c.Attempt > 0 {
		attrs = append(attrs, tracing.Attempt.Int(c.Attempt))
	}
	return attrs
}

// LogAttrs returns the attributes of every log line about the context: crawl, host and visit, and
// the trace of ctx, if it has one.
func (c MessageContext) LogAttrs(ctx context.Context) []any {
	return c.logAttrs(tracing.IDOf(ctx))
}

// LogAttrsIn is LogAttrs with the trace in header.
func (c MessageContext) LogAttrsIn(header nats.Header) []any { return c.logAttrs(tracing.ID(header)) }

func (c MessageContext) logAttrs(trace string) []any {
	attrs := []any{slog.String("crawl", c.Crawl)}
	if c.URL != "" {
		attrs = append(attrs, slog.String("host", weburl.Host(c.URL)))
	}
	if !c.Visit.IsZero() {
		attrs = append(attrs, slog.String("visit", c.Visit.String()))
	}
	if c.Attempt > 0 {
		attrs = append(attrs, slog.Int("attempt", c.Attempt))
	}
	if trace != "" {
		attrs = append(attrs, slog.String("trace", trace))
	}
	return attrs
}

// SubjectOfRecord returns the context of a message of RECORDS from its identity.
func SubjectOfRecord(id string) MessageContext {
	var s MessageContext
	parts := strings.SplitN(id, ".", 4)
	if len(parts) < 3 {
		return s
	}
	s.Crawl = parts[0]
	_ = s.Visit.UnmarshalText([]byte(parts[1] + "." + parts[2]))
	return s
}

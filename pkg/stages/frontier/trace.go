package frontier

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"seine/internal/base/tracing"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// traceRequest starts the span of a request that is about to be published, if its visit is sampled,
// and adds the trace to the message for the fetcher.
func (p *partitionLoop) traceRequest(ctx context.Context, o *outgoing, m *nats.Msg, spans []trace.Span) []trace.Span {
	tracer := p.f.bus.Tracer
	if !tracer.Samples() {
		return spans
	}
	visit := tracing.VisitOf(messages.VisitID(o.wire.Crawl, o.wire.Visit), p.fetchLife)
	ctx, span, ok := tracer.Dispatch(ctx, visit, o.wire.Attempt, o.made)
	if !ok {
		return spans
	}
	span.SetAttributes(tracing.Stage.String(messages.StageFrontier), tracing.NATS(), tracing.Operation.String(tracing.Send),
		tracing.Destination.String(messages.StreamFetch), tracing.MessageID.String(o.wire.ID()))
	span.SetAttributes(subjectOf(o.wire).Attributes()...)
	p.f.bus.Traced(m, tracing.Text(ctx))
	return append(spans, span)
}

// subjectOf returns the context of a request.
func subjectOf(m *messages.Request) stages.MessageContext {
	return stages.MessageContext{Crawl: m.Crawl, URL: m.URL, Visit: m.Visit, Attempt: m.Attempt}
}

// fetchLife returns when FETCH was created, which is part of a trace's identity. It returns zero
// without a query if no visit is traced.
func (f *Frontier) fetchLife(ctx context.Context) (time.Time, error) {
	if !f.bus.Tracer.Samples() {
		return time.Time{}, nil
	}
	s, err := f.bus.JS.Stream(ctx, messages.StreamFetch)
	if err != nil {
		return time.Time{}, fmt.Errorf("open stream %s: %w", messages.StreamFetch, err)
	}
	return s.CachedInfo().Created, nil
}

// traceApplied begins the span of a message that is being applied, which ends with the turn.
func (p *partitionLoop) traceApplied(m *stages.Message, subject stages.MessageContext, more ...attribute.KeyValue) {
	if p.state.Replaying() {
		return // it was traced when it was first applied
	}
	p.traced.Add(p.f.bus.Tracer, "apply", m.Header, func() []attribute.KeyValue {
		attrs := append(stages.MessageAttributes(messages.StageFrontier, m), subject.Attributes()...)
		return append(attrs, more...)
	})
}

// found is the number of URLs in a message of URLS.
const found = attribute.Key("seine.urls")

package tracing

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// DeferredSpans are spans of messages that end together, for example with one commit.
type DeferredSpans struct {
	tracer *Tracer
	spans  []later
}

type later struct {
	name   string
	parent trace.SpanContext
	began  time.Time
	attrs  []attribute.KeyValue
}

// maxLater bounds the pending spans, because a commit may have many thousand messages.
const maxLater = 1024

// Add begins a span for a message, which ends with the others. It calls attrs only if the message
// has a trace.
func (d *DeferredSpans) Add(t *Tracer, name string, header map[string][]string, attrs func() []attribute.KeyValue) {
	if t == nil {
		return
	}
	parent, ok := Parent(header)
	if !ok {
		return
	}
	d.tracer = t
	if len(d.spans) >= maxLater {
		t.gate.drop()
		return
	}
	d.spans = append(d.spans, later{name, parent, time.Now(), attrs()})
}

// End ends all spans.
func (d *DeferredSpans) End(attrs ...attribute.KeyValue) {
	for _, s := range d.spans {
		_, span := d.tracer.Begin(context.Background(), s.parent, s.name, trace.WithTimestamp(s.began), trace.WithAttributes(s.attrs...))
		span.SetAttributes(attrs...)
		span.End()
	}
	d.spans = nil
}

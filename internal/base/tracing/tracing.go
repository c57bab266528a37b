// Package tracing makes one OpenTelemetry trace of each sampled visit, across its stages. The
// context travels with the messages as W3C Trace Context (https://www.w3.org/TR/trace-context/).
//
// The frontier alone decides which visits are sampled. For messages without a trace, nothing here
// allocates.
package tracing

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"strconv"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Header is the message header with the parent span.
const Header = "traceparent"

// Tracer makes the spans of one process. A nil Tracer makes none. It is safe for concurrent use.
type Tracer struct {
	bound    uint64 // visits with a smaller number are sampled
	all      bool
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
	gate     *gate
}

// Visit identifies the trace of a visit with all its attempts.
type Visit struct {
	trace trace.TraceID
	root  trace.SpanID
}

// VisitOf returns the trace of a visit, identified by messages.VisitID. life is the creation time
// of the stream of requests: the same crawl on new streams, which visits the same URLs, has
// different traces.
func VisitOf(id string, life time.Time) Visit {
	b := make([]byte, 0, 96)
	b = binary.BigEndian.AppendUint64(b, uint64(life.UnixNano()))
	sum := sha256.Sum256(append(b, id...))
	var v Visit
	copy(v.trace[:], sum[:16])
	copy(v.root[:], sum[16:24])
	return v
}

// number returns the number that decides about sampling, as in OpenTelemetry's TraceIdRatioBased:
// other samplers with the same ratio choose the same traces.
func (v *Visit) number() uint64 { return binary.BigEndian.Uint64(v.trace[8:]) >> 1 }

// Samples reports whether this process may sample visits.
func (t *Tracer) Samples() bool { return t != nil && (t.all || t.bound > 0) }

// sampled reports whether a visit is traced.
func (t *Tracer) sampled(v *Visit) bool { return t.all || v.number() < t.bound }

// Dispatch starts the span of a request, if its visit is sampled. The span of the first attempt is
// the root of the trace; those of other attempts are its children, whichever frontier sends them.
func (t *Tracer) Dispatch(ctx context.Context, v Visit, attempt int, began time.Time) (context.Context, trace.Span, bool) {
	if t == nil || !t.sampled(&v) {
		return ctx, nil, false
	}
	opts := []trace.SpanStartOption{trace.WithTimestamp(began), trace.WithSpanKind(trace.SpanKindProducer)}
	if attempt <= 1 {
		ctx = context.WithValue(ctx, rootKey{}, v)
		opts = append(opts, trace.WithNewRoot())
	} else {
		ctx = trace.ContextWithRemoteSpanContext(ctx, trace.NewSpanContext(trace.SpanContextConfig{
			TraceID: v.trace, SpanID: v.root, TraceFlags: trace.FlagsSampled, Remote: true,
		}))
	}
	ctx, span := t.tracer.Start(ctx, "dispatch", opts...)
	return ctx, span, true
}

// rootKey is the context key for the Visit of a root span.
type rootKey struct{}

// ids gives a root span the IDs of its visit, and other spans random ones.
type ids struct{}

var _ sdktrace.IDGenerator = ids{}

// NewIDs implements sdktrace.IDGenerator.
func (ids) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	if v, ok := ctx.Value(rootKey{}).(Visit); ok {
		return v.trace, v.root
	}
	var id trace.TraceID
	_, _ = rand.Read(id[:]) // never fails
	return id, newSpanID()
}

// NewSpanID implements sdktrace.IDGenerator.
func (ids) NewSpanID(context.Context, trace.TraceID) trace.SpanID { return newSpanID() }

func newSpanID() (id trace.SpanID) {
	_, _ = rand.Read(id[:])
	return id
}

// Begin starts the span of work on a message with parent. Without a Tracer it passes the parent on,
// for processes with one.
func (t *Tracer) Begin(ctx context.Context, parent trace.SpanContext, name string, opts ...trace.SpanStartOption) (context.Context, trace.Span) {
	ctx = trace.ContextWithRemoteSpanContext(ctx, parent)
	if t == nil {
		return ctx, trace.SpanFromContext(ctx)
	}
	return t.tracer.Start(ctx, name, append(opts, trace.WithSpanKind(trace.SpanKindConsumer))...)
}

// Child starts a span below that of ctx, if that is recorded; otherwise it returns nil.
func Child(ctx context.Context, name string, kind trace.SpanKind) (context.Context, trace.Span) {
	above := trace.SpanFromContext(ctx)
	if !above.IsRecording() {
		return ctx, nil
	}
	return above.TracerProvider().Tracer(scope).Start(ctx, name, trace.WithSpanKind(kind))
}

// Recorded returns the span of ctx if it is recorded, otherwise nil.
func Recorded(ctx context.Context) trace.Span {
	if s := trace.SpanFromContext(ctx); s.IsRecording() {
		return s
	}
	return nil
}

// scope is the instrumentation scope of the spans.
const scope = "seine"

// Parent returns the span in a message header, and whether its trace is sampled.
func Parent(header map[string][]string) (trace.SpanContext, bool) {
	text := header[Header]
	if len(text) == 0 {
		return trace.SpanContext{}, false
	}
	sc, ok := parse(text[0])
	return sc, ok && sc.IsSampled()
}

// parse parses version-trace-span-flags. Later versions may have more fields.
func parse(text string) (trace.SpanContext, bool) {
	const version, size = 2, len("00-") + 32 + len("-") + 16 + len("-00")
	if len(text) < size || text[version] != '-' || text[35] != '-' || text[52] != '-' ||
		text[:version] == "ff" || text[:version] == "00" && len(text) != size {
		return trace.SpanContext{}, false
	}
	id, err := trace.TraceIDFromHex(text[3:35])
	if err != nil {
		return trace.SpanContext{}, false
	}
	span, err := trace.SpanIDFromHex(text[36:52])
	if err != nil {
		return trace.SpanContext{}, false
	}
	flags, err := strconv.ParseUint(text[53:55], 16, 8)
	if err != nil {
		return trace.SpanContext{}, false
	}
	return trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: id, SpanID: span, TraceFlags: trace.TraceFlags(flags) & trace.FlagsSampled, Remote: true,
	}), true
}

// Text returns the value of Header for messages sent in the span of ctx, "" if that is not sampled.
func Text(ctx context.Context) string {
	sc := trace.SpanContextFromContext(ctx)
	if !sc.IsSampled() || !sc.IsValid() {
		return ""
	}
	return "00-" + sc.TraceID().String() + "-" + sc.SpanID().String() + "-01"
}

// HeaderSize is the size of Header in a message on the wire, in bytes.
const HeaderSize = len(Header) + len(": ") + 55 + len("\r\n")

// ID returns the trace ID in a message header, "" for none.
func ID(header map[string][]string) string {
	if sc, ok := Parent(header); ok {
		return sc.TraceID().String()
	}
	return ""
}

// IDOf returns the trace ID of ctx, "" for none.
func IDOf(ctx context.Context) string {
	if sc := trace.SpanContextFromContext(ctx); sc.IsSampled() {
		return sc.TraceID().String()
	}
	return ""
}

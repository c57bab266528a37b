package tracing

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
)

var life = time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)

func tracerTo(t *testing.T, e sdktrace.SpanExporter, ratio float64, room int) *Tracer {
	t.Helper()
	return newTracer(e, ratio, room, resource.Empty(), slog.New(slog.DiscardHandler))
}

// Sampling depends only on the visit: other processes, and the same one after a restart, select the
// same visits. Their share is the ratio.
func TestSampledVisitsAreTheSameEverywhere(t *testing.T) {
	const visits = 20000
	for _, ratio := range []float64{0, 0.01, 0.25, 1} {
		a, b := tracerTo(t, tracetest.NewNoopExporter(), ratio, 8), tracerTo(t, tracetest.NewNoopExporter(), ratio, 8)
		n := 0
		for i := range visits {
			v := VisitOf(fmt.Sprintf("crawl.%032x.1", i), life)
			again := VisitOf(fmt.Sprintf("crawl.%032x.1", i), life)
			if v != again || a.sampled(&v) != b.sampled(&again) {
				t.Fatalf("visit %d: %v and %v", i, v, again)
			}
			if a.sampled(&v) {
				n++
			}
		}
		if got := float64(n) / visits; math.Abs(got-ratio) > 0.01 {
			t.Errorf("ratio %v: %v of the visits are sampled", ratio, got)
		}
		if a.Samples() != (ratio > 0) {
			t.Errorf("ratio %v: Samples is %v", ratio, a.Samples())
		}
		a.Close()
		b.Close()
	}
	if VisitOf("crawl.00.1", life) == VisitOf("crawl.00.1", life.Add(time.Hour)) {
		t.Error("a visit has the same trace on other streams")
	}
}

// The first attempt is the root. A later one, sent by a frontier that was restarted, belongs to the
// same trace, below that root.
func TestAttemptsOfAVisitShareATrace(t *testing.T) {
	kept := tracetest.NewInMemoryExporter()
	for attempt := 1; attempt <= 2; attempt++ {
		tr := tracerTo(t, kept, 1, 8)
		ctx, span, ok := tr.Dispatch(t.Context(), VisitOf("c.00.1", life), attempt, time.Now())
		if !ok || !span.SpanContext().IsSampled() {
			t.Fatal("not sampled")
		}
		parent, ok := Parent(map[string][]string{Header: {Text(ctx)}})
		if !ok || parent.SpanID() != span.SpanContext().SpanID() || parent.TraceID() != span.SpanContext().TraceID() {
			t.Errorf("%q is not read as the span that wrote it", Text(ctx))
		}
		span.End()
		if err := tr.provider.ForceFlush(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	spans := kept.GetSpans()
	first, second := spans[0], spans[1]
	if first.Parent.IsValid() || second.Parent.SpanID() != first.SpanContext.SpanID() || first.SpanContext.TraceID() != second.SpanContext.TraceID() {
		t.Errorf("the second attempt is no child of the first: %v, %v", first.SpanContext, second.Parent)
	}
}

func TestHeadersOfOthers(t *testing.T) {
	const id, span = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	for text, want := range map[string]bool{
		"00-" + id + "-" + span + "-01":      true,
		"00-" + id + "-" + span + "-03":      true, // with the flag for random IDs
		"00-" + id + "-" + span + "-0b":      true,
		"00-" + id + "-" + span + "-00":      false,
		"00-" + id + "-" + span + "-0a":      false,
		"01-" + id + "-" + span + "-01-more": true,
		"00-" + id + "-" + span + "-01-more": false,
		"ff-" + id + "-" + span + "-01":      false,
		"00-" + id + "-0000000000000000-01":  false,
		"00-" + id + "-00f067aa0ba902bX-01":  false,
		"00_" + id + "-" + span + "-01":      false,
		"00-" + id + "-" + span + "-0x":      false,
		"":                                   false,
		"00":                                 false,
	} {
		if _, ok := Parent(map[string][]string{Header: {text}}); ok != want {
			t.Errorf("%q: sampled is %v, want %v", text, ok, want)
		}
	}
}

// Without a trace nothing is allocated, with or without a Tracer.
func TestNothingIsAllocatedWithoutATrace(t *testing.T) {
	tr := tracerTo(t, tracetest.NewNoopExporter(), 1, 8)
	defer tr.Close()
	header := map[string][]string{"Nats-Msg-Id": {"c.00.1"}}
	ctx := t.Context()
	var later DeferredSpans
	for name, do := range map[string]func(){
		"Parent": func() { _, _ = Parent(header) },
		"Child":  func() { _, _ = Child(ctx, "x", trace.SpanKindClient) },
		"Text":   func() { _ = Text(ctx) },
		"Later":  func() { later.Add(tr, "x", header, func() []attribute.KeyValue { return nil }); later.End() },
		"off": func() {
			var none *Tracer
			_, _, _ = none.Dispatch(ctx, Visit{}, 1, time.Time{})
		},
	} {
		if n := testing.AllocsPerRun(100, do); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// hanging is a receiver that does not answer.
type hanging struct{ sdktrace.SpanExporter }

func (hanging) ExportSpans(ctx context.Context, _ []sdktrace.ReadOnlySpan) error {
	<-ctx.Done()
	return errors.New("no answer")
}

func (hanging) Shutdown(context.Context) error { return nil }

// A hanging receiver blocks nobody: spans that exceed the queue are dropped and counted.
func TestHangingReceiverHoldsUpNobody(t *testing.T) {
	tr := tracerTo(t, hanging{}, 1, 16)
	dropped := counter(t, "dropped")
	began := time.Now()
	for i := range 1000 {
		_, span, _ := tr.Dispatch(t.Context(), VisitOf(fmt.Sprint("c.", i, ".1"), life), 1, began)
		span.End()
	}
	if n := counter(t, "dropped") - dropped; n < 1000-16 {
		t.Errorf("%v of 1000 spans were dropped, with room for 16", n)
	}
	tr.Close()
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
}

func TestHandedOnWithoutATracer(t *testing.T) {
	const text = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	parent, _ := Parent(map[string][]string{Header: {text}})
	var none *Tracer
	ctx, span := none.Begin(t.Context(), parent, "work")
	if span.IsRecording() || Text(ctx) != text {
		t.Errorf("a process without traces hands on %q", Text(ctx))
	}
	if trace.SpanContextFromContext(ctx).TraceID() != parent.TraceID() {
		t.Error("it is another trace")
	}
}

func TestSecretsInURLsAreMasked(t *testing.T) {
	for url, want := range map[string]string{
		"https://example.org/a?b=c":                       "https://example.org/a?b=c",
		"https://u:secret@example.org/":                   "https://REDACTED:REDACTED@example.org/",
		"https://example.org/?X-Amz-Signature=secret&x=1": "https://example.org/?X-Amz-Signature=REDACTED&x=1",
		"https://example.org/?a=%zz&api_key=secret":       "https://example.org/?a=%zz&api_key=REDACTED",
		"https://example.org/a@b?sig":                     "https://example.org/a@b?sig",
		"http://[::1?token=secret":                        "REDACTED",
	} {
		if got := Masked(url); got != want {
			t.Errorf("%s is shown as %s, want %s", url, got, want)
		}
	}
}

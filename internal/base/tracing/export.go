package tracing

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

var spansTotal = promauto.NewCounterVec(prometheus.CounterOpts{
	Name: "seine_trace_spans_total", Help: "Ended spans, by outcome: exported, failed, dropped.",
}, []string{"outcome"})

var (
	spansExported = spansTotal.WithLabelValues("exported")
	spansFailed   = spansTotal.WithLabelValues("failed")
	spansDropped  = spansTotal.WithLabelValues("dropped")
)

// gate is a processor in front of the exporting one, and an exporter behind it. Between the two are
// never more spans than the queue has room for. It drops and counts further spans. It never blocks.
type gate struct {
	sdktrace.SpanProcessor
	exporter sdktrace.SpanExporter
	log      *slog.Logger
	room     int64
	inside   atomic.Int64
	broken   atomic.Bool
}

func newGate(e sdktrace.SpanExporter, room int, log *slog.Logger) *gate {
	g := &gate{exporter: e, room: int64(room), log: log}
	g.SpanProcessor = sdktrace.NewBatchSpanProcessor(exporting{g},
		sdktrace.WithMaxQueueSize(room), sdktrace.WithMaxExportBatchSize(min(room, sdktrace.DefaultMaxExportBatchSize)),
		sdktrace.WithBatchTimeout(exportEvery))
	return g
}

// exportEvery is how long a span waits for a batch.
const exportEvery = time.Second

func (g *gate) drop() { spansDropped.Inc() }

// OnEnd implements sdktrace.SpanProcessor.
func (g *gate) OnEnd(s sdktrace.ReadOnlySpan) {
	if g.inside.Add(1) > g.room {
		g.inside.Add(-1)
		g.drop()
		return
	}
	g.SpanProcessor.OnEnd(s)
}

// exporting is the gate as an exporter.
type exporting struct{ *gate }

// ExportSpans implements sdktrace.SpanExporter. It never fails, because the SDK would log each
// failed batch.
func (e exporting) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	err := e.exporter.ExportSpans(ctx, spans)
	e.inside.Add(-int64(len(spans)))
	if err != nil {
		spansFailed.Add(float64(len(spans)))
		if !e.broken.Swap(true) {
			e.log.Warn("cannot export traces; the crawl continues without them", "error", err)
		}
		return nil
	}
	spansExported.Add(float64(len(spans)))
	if e.broken.Swap(false) {
		e.log.Info("traces are exported again")
	}
	return nil
}

// Shutdown implements sdktrace.SpanExporter.
func (e exporting) Shutdown(ctx context.Context) error { return e.exporter.Shutdown(ctx) }

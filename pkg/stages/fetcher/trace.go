package fetcher

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"seine/internal/base/tracing"
	"seine/internal/base/weburl"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// tellEnd notes how a request ended: on its span, and for who debugs.
func (f *Fetcher) tellEnd(ctx context.Context, res *messages.Result) {
	if f.bus.Log.Enabled(ctx, slog.LevelDebug) {
		about := stages.MessageContext{Crawl: res.Crawl, URL: res.URL, Visit: res.Visit, Attempt: res.Attempt}
		f.bus.Log.Debug("fetched", append(about.LogAttrs(ctx), "class", res.Class, "status", res.Status,
			"bytes", res.BytesWire, "took", time.Duration(res.Timings.Total))...)
	}
	span := tracing.Recorded(ctx)
	if span == nil {
		return
	}
	span.SetAttributes(tracing.Class.String(string(res.Class)))
	if res.Status > 0 {
		span.SetAttributes(tracing.StatusCode.Int(res.Status))
	}
}

// exchangeSpan is the span of one HTTP exchange, nil if the visit is not traced.
type exchangeSpan struct {
	trace.Span
	connected time.Time // when the request was given to a connection
}

// beginExchange starts it. Its URL is the name of the visit: what is sent may have
// secrets.
func beginExchange(ctx context.Context, a *fetchRequest) (context.Context, *exchangeSpan) {
	ctx, span := tracing.Child(ctx, a.method(), trace.SpanKindClient)
	if span == nil {
		return ctx, nil
	}
	span.SetAttributes(tracing.Stage.String(messages.StageFetcher), tracing.Method.String(a.method()), tracing.URL(a.url),
		tracing.ServerAddress.String(weburl.Hostname(a.url)))
	return ctx, &exchangeSpan{Span: span}
}

// method is how the request is made.
func (a *fetchRequest) method() string {
	if a.shape != nil {
		return a.shape.method
	}
	return http.MethodGet
}

// end ends the span with what is known of the exchange.
func (s *exchangeSpan) end(r *fetchReply) {
	if s == nil {
		return
	}
	s.phases(r)
	attrs := []attribute.KeyValue{tracing.Class.String(string(r.class)), tracing.BodySize.Int64(r.bytesWire)}
	if r.status > 0 {
		attrs = append(attrs, tracing.StatusCode.Int(r.status), tracing.ProtocolVersion.String(protocolVersion(r.protocol)))
	}
	if r.ip != "" {
		attrs = append(attrs, tracing.PeerAddress.String(r.ip))
	}
	s.SetAttributes(attrs...)
	if r.status >= 400 || r.status == 0 {
		tracing.Fail(s, string(r.class), r.text)
	}
	s.End()
}

// phases adds an event at the end of each phase, with the time that it took.
func (s *exchangeSpan) phases(r *fetchReply) {
	event := func(name string, at time.Time, took time.Duration) {
		s.AddEvent(name, trace.WithTimestamp(at), trace.WithAttributes(tookMS.Float64(float64(took)/1e6)))
	}
	t := &r.timings
	if at := s.connected; !at.IsZero() {
		dns, connect, tls := time.Duration(t.DNS), time.Duration(t.Connect), time.Duration(t.TLS)
		if dns+connect+tls > 0 {
			event("dns", at.Add(-tls-connect), dns)
			event("connect", at.Add(-tls), connect)
		}
		if tls > 0 {
			event("tls", at, tls)
		}
	}
	if first := time.Duration(t.FirstByte); first > 0 {
		event("first_byte", r.started.Add(first), first)
		event("body", r.started.Add(time.Duration(t.Total)), time.Duration(t.Total)-first)
	}
}

// tookMS is the duration of a phase.
const tookMS = attribute.Key("seine.took_ms")

// protocolVersion is "1.1" of "HTTP/1.1", "2" of "HTTP/2.0".
func protocolVersion(proto string) string {
	switch proto {
	case "HTTP/1.0":
		return "1.0"
	case "HTTP/2.0":
		return "2"
	}
	return "1.1"
}

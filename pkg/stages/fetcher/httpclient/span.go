package httpclient

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"seine/internal/base/tracing"
	"seine/internal/base/weburl"
	"seine/pkg/messages"
)

// exchangeSpan is the span of one HTTP exchange, nil if the visit is not traced.
type exchangeSpan struct {
	trace.Span
	connected time.Time // when the request was given to a connection
}

// beginExchange starts the span of an exchange. It has the URL of the visit, since the request that
// is sent may contain secrets.
func beginExchange(ctx context.Context, url, method string) (context.Context, *exchangeSpan) {
	ctx, span := tracing.Child(ctx, method, trace.SpanKindClient)
	if span == nil {
		return ctx, nil
	}
	span.SetAttributes(tracing.Stage.String(messages.StageFetcher), tracing.Method.String(method), tracing.URL(url),
		tracing.ServerAddress.String(weburl.Hostname(url)))
	return ctx, &exchangeSpan{Span: span}
}

// end ends the span with the data of the exchange.
func (s *exchangeSpan) end(r *Reply) {
	if s == nil {
		return
	}
	s.phases(r)
	attrs := []attribute.KeyValue{tracing.Class.String(string(r.Class)), tracing.BodySize.Int64(r.BytesWire)}
	if r.Status > 0 {
		attrs = append(attrs, tracing.StatusCode.Int(r.Status), tracing.ProtocolVersion.String(protocolVersion(r.Protocol)))
	}
	if r.IP != "" {
		attrs = append(attrs, tracing.PeerAddress.String(r.IP))
	}
	s.SetAttributes(attrs...)
	if r.Status >= 400 || r.Status == 0 {
		tracing.Fail(s, string(r.Class), r.Text)
	}
	s.End()
}

// phases adds an event at the end of each phase, with its duration.
func (s *exchangeSpan) phases(r *Reply) {
	event := func(name string, at time.Time, took time.Duration) {
		s.AddEvent(name, trace.WithTimestamp(at), trace.WithAttributes(tookMS.Float64(float64(took)/1e6)))
	}
	t := &r.Timings
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
		event("first_byte", r.Started.Add(first), first)
		event("body", r.Started.Add(time.Duration(t.Total)), time.Duration(t.Total)-first)
	}
}

// tookMS is the duration of a phase.
const tookMS = attribute.Key("seine.took_ms")

// protocolVersion returns "1.1" for "HTTP/1.1", "2" for "HTTP/2.0".
func protocolVersion(proto string) string {
	switch proto {
	case "HTTP/1.0":
		return "1.0"
	case "HTTP/2.0":
		return "2"
	}
	return "1.1"
}

package fetcher

import (
	"context"
	"log/slog"
	"time"

	"seine/internal/base/tracing"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// tellEnd records the outcome of a request on its span and in the debug log.
func (co composer) tellEnd(ctx context.Context, res *messages.Result) {
	if co.bus.Log.Enabled(ctx, slog.LevelDebug) {
		about := stages.MessageContext{Crawl: res.Crawl, URL: res.URL, Visit: res.Visit, Attempt: res.Attempt}
		co.bus.Log.Debug("fetched", append(about.LogAttrs(ctx), "class", res.Class, "status", res.Status,
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

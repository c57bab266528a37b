package fetcher

import (
	"context"

	"github.com/nats-io/nats.go"

	"seine/pkg/stages"
	"seine/pkg/stages/retention"
)

// markPartBodies marks the large bodies of parts of a rendered page as read once their messages are stored. Parts are for
// archives alone, and a parser, which marks the bodies of pages, never reads them: without a mark they would
// stay until the janitor takes them for nobody's, and fill the bucket.
func (f *Fetcher) markPartBodies(ctx context.Context, t *fetchJob, out *stages.Output) {
	if len(t.partBodies) == 0 {
		return
	}
	stored := make(map[string]uint64, len(t.partBodies)) // sequence of its message in PAGES, by object
	out.Stored = func(m *nats.Msg, sequence uint64) {
		if object, ok := t.partBodies[m]; ok {
			stored[object] = sequence
		}
	}
	out.OnDone(func() {
		for object, sequence := range stored {
			if err := retention.MarkBodyRead(ctx, f.bus, object, sequence); err != nil {
				f.bus.Log.Warn("large body stays", "crawl", t.req.Crawl, "url", t.req.URL, "object", object, "error", err)
			}
		}
	})
}

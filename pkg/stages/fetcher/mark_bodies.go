package fetcher

import (
	"context"

	"github.com/nats-io/nats.go"

	"seine/internal/streams/retention"
	"seine/pkg/stages"
)

// noteBody records that m names a large body, unless object is "". It returns m.
func (j *fetchJob) noteBody(m *nats.Msg, object string) *nats.Msg {
	if object != "" {
		if j.bodies == nil {
			j.bodies = make(map[*nats.Msg]string)
		}
		j.bodies[m] = object
	}
	return m
}

// markBodies marks the large bodies of a job once their messages are stored. If the fetcher dies
// before, a body has no mark, and stays until the janitor finds that it has no message.
func (co composer) markBodies(ctx context.Context, t *fetchJob, out *stages.Output) {
	if len(t.bodies) == 0 {
		return
	}
	stored := make(map[string]uint64, len(t.bodies)) // sequence of its message in PAGES, by object
	out.Stored = func(m *nats.Msg, sequence uint64) {
		if object, ok := t.bodies[m]; ok {
			stored[object] = sequence
		}
	}
	out.OnDone(func() {
		for object, sequence := range stored {
			if err := retention.MarkBody(ctx, co.bus, object, sequence); err != nil {
				co.bus.Log.Warn("cannot remove large body", "crawl", t.req.Crawl, "url", t.req.URL, "object", object, "error", err)
			}
		}
	})
}

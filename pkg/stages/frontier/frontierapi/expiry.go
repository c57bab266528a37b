package frontierapi

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/streams/jsclient"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// LastChange returns the time of the last event in a crawl or of the last change of its spec,
// whichever is later.
func LastChange(spec crawlspec.Revision, c *Counters) time.Time {
	at := time.UnixMilli(c.Changed)
	if spec.Time.After(at) {
		at = spec.Time
	}
	return at.UTC()
}

// Expiry returns when an ended crawl will be deleted, unless it gets seeds or another spec before;
// the zero time for never. The time counts from the end, the last seeds or the last change of the
// spec, whichever is latest.
func (c Client) Expiry(ctx context.Context, crawl string, spec crawlspec.Revision, end EndReason, n *Counters) (time.Time, error) {
	if spec.Keep == 0 || end == NotEnded || end == Empty {
		return time.Time{}, nil
	}
	from := LastChange(spec, n)
	if over := time.UnixMilli(n.Started).Add(time.Duration(spec.MaxDuration)); end == TimeLimit && over.After(from) {
		from = over
	}
	fed, err := c.Bus.ReadFromLeader(ctx, messages.StreamSeeds, jsclient.Lookup{Last: messages.SubjectSeeds(crawl)})
	switch {
	case errors.Is(err, jetstream.ErrMsgNotFound):
	case err != nil:
		return time.Time{}, err
	case fed.Time.After(from):
		from = fed.Time
	}
	return from.Add(time.Duration(spec.Keep)).UTC(), nil
}

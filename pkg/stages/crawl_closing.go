package stages

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/base/sleep"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// A crawl that has ended is deleted when its Spec.Keep is over, without losing a seed
// or a spec that comes at just that moment:
//
//  1. A frontier stores messages.KeyClosing (Close). From there on no frontier takes
//     seeds of the crawl out of SEEDS (AwaitOpen): those that were taken before are
//     applied, or the crawl is seen not to have ended.
//  2. It finds out once more that the crawl has ended, as of then.
//  3. It stores the deletion, if nothing was stored in BucketCrawls since the first
//     step (SpecClosing.Delete): no spec, and no KeyClosing of another frontier. Seeds that
//     came after the second step are of the next crawl of that name.

// SpecClosing does these steps, and has seeds wait meanwhile.
type SpecClosing struct{ *Specs }

// note follows the key of a crawl.
func (c SpecClosing) note(crawl string, e jetstream.KeyValueEntry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e.Operation() == jetstream.KeyValuePut {
		c.closings[crawl] = e.Revision()
	} else {
		delete(c.closings, crawl)
	}
}

// Crawls returns the crawls that somebody began to close and did not delete, as far
// as is known.
func (c SpecClosing) Crawls() []string {
	c.mu.RLock()
	defer c.mu.RUnlock()
	left := maps.Clone(c.closings)
	maps.DeleteFunc(left, func(crawl string, rev uint64) bool {
		d := c.deletions[crawl]
		return d != nil && d.Rev > rev
	})
	return slices.Collect(maps.Keys(left))
}

// Kept returns the revisions of the specs that have a Keep, by crawl.
func (c SpecClosing) Kept() map[string]uint64 {
	c.mu.RLock()
	defer c.mu.RUnlock()
	kept := make(map[string]uint64)
	for crawl, r := range c.byCrawl {
		if r.expires {
			kept[crawl] = r.rev
		}
	}
	return kept
}

// GetNewest is GetSure for a spec that must not be behind. If what is stored cannot be
// read, or is not known here yet, it is an error.
func (c SpecClosing) GetNewest(ctx context.Context, crawl string) (crawlspec.Revision, error) {
	_, rev, err := c.bus.ReadKey(ctx, messages.BucketCrawls, crawl)
	if err != nil {
		return crawlspec.Revision{}, err
	}
	r, err := c.GetSure(ctx, crawl)
	if err == nil && r.Rev != max(rev, r.Since()) {
		err = fmt.Errorf("spec of crawl %s: revision %d is known, of %d", crawl, r.Rev, rev)
	}
	return r, err
}

// ServerTime is the time of day of the NATS server.
func (c SpecClosing) ServerTime(ctx context.Context) (time.Time, error) {
	st, err := c.bus.JS.Stream(ctx, "KV_"+messages.BucketCrawls)
	if err != nil {
		return time.Time{}, fmt.Errorf("look at bucket %s: %w", messages.BucketCrawls, err)
	}
	return st.CachedInfo().TimeStamp, nil
}

// Close keeps seeds of a crawl waiting until it was deleted or opened again, and
// returns the revision by which Delete knows whether anything has changed.
func (c SpecClosing) Close(ctx context.Context, crawl string) (uint64, error) {
	rev, err := c.kv.Put(ctx, messages.KeyClosing(crawl), nil)
	if err != nil {
		return 0, fmt.Errorf("close crawl %s: %w", crawl, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closings[crawl] = max(c.closings[crawl], rev)
	return rev, nil
}

// Open ends what Close began.
func (c SpecClosing) Open(ctx context.Context, crawl string) error {
	if err := c.kv.Delete(ctx, messages.KeyClosing(crawl)); err != nil {
		return fmt.Errorf("open crawl %s again: %w", crawl, err)
	}
	return nil
}

// Delete stores the deletion of a crawl that Close has closed at a revision. If
// anything has changed in the bucket since, IsConflict tells so.
func (c SpecClosing) Delete(ctx context.Context, crawl string, d messages.Deletion, closed uint64) (*messages.Deletion, error) {
	if _, err := c.Deletions.next(ctx, crawl, &d); err != nil {
		return nil, err
	}
	m := &nats.Msg{Subject: "$KV." + messages.BucketCrawls + "." + messages.KeyDeletion(crawl), Data: d.Encode()}
	ack, err := c.bus.JS.PublishMsg(ctx, m, jetstream.WithExpectLastSequence(closed))
	if err != nil {
		return nil, fmt.Errorf("delete crawl %s: %w", crawl, err)
	}
	return c.Deletions.note(crawl, d, ack.Sequence), nil
}

// closedPoll is the wait between looks at whether a crawl is open again.
const closedPoll = 50 * time.Millisecond

// AwaitOpen waits while a crawl is closed. It asks the leader each time.
func (c SpecClosing) AwaitOpen(ctx context.Context, crawl string) error {
	for {
		closed, err := c.closed(ctx, crawl)
		if err == nil && closed {
			err = sleep.For(ctx, closedPoll)
		}
		if err != nil {
			return fmt.Errorf("look whether crawl %s is being deleted: %w", crawl, err)
		}
		if !closed {
			return nil
		}
	}
}

func (c SpecClosing) closed(ctx context.Context, crawl string) (bool, error) {
	_, rev, err := c.bus.ReadKey(ctx, messages.BucketCrawls, messages.KeyClosing(crawl))
	if err != nil || rev == 0 {
		return false, err
	}
	since, err := c.Deletions.at(ctx, crawl)
	return rev > since, err
}

package stages

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// SpecExpiry deletes crawls whose Spec.Keep is over, without losing a seed or a spec that arrives
// at that moment:
//
//  1. A frontier reads the revision of the bucket (Now).
//  2. It determines that the crawl has ended: no seed is unread, and all seeds that were read are applied.
//  3. It stores the deletion, if the bucket still has that revision (Delete).
//
// A frontier that has published seeds of such a crawl stores messages.KeyFed before it acknowledges
// them (Fed). So either the third step finds another revision, or the frontier finds the deletion,
// and adds the seeds to the next crawl with that name.
type SpecExpiry struct{ *Specs }

// Kept returns the revisions of the specs with a Keep, by crawl.
func (x SpecExpiry) Kept() map[string]uint64 {
	x.mu.RLock()
	defer x.mu.RUnlock()
	kept := make(map[string]uint64)
	for crawl, r := range x.byCrawl {
		if r.expires {
			kept[crawl] = r.rev
		}
	}
	return kept
}

// GetNewest is GetSure for a spec that must be the newest. It returns an error if the stored spec
// cannot be read or is not known here yet.
func (x SpecExpiry) GetNewest(ctx context.Context, crawl string) (crawlspec.Revision, error) {
	_, rev, err := x.bus.ReadKey(ctx, messages.BucketCrawls, crawl)
	if err != nil {
		return crawlspec.Revision{}, err
	}
	r, err := x.GetSure(ctx, crawl)
	if err == nil && r.Rev != max(rev, r.Since()) {
		err = fmt.Errorf("spec of crawl %s: revision %d is known, not %d", crawl, r.Rev, rev)
	}
	return r, err
}

// Now returns the newest revision of the bucket, and the time of day of the NATS server.
func (x SpecExpiry) Now(ctx context.Context) (rev uint64, at time.Time, err error) {
	st, err := x.bus.JS.Stream(ctx, "KV_"+messages.BucketCrawls)
	if err != nil {
		return 0, at, fmt.Errorf("inspect bucket %s: %w", messages.BucketCrawls, err)
	}
	return st.CachedInfo().State.LastSeq, st.CachedInfo().TimeStamp, nil
}

// Delete stores the deletion of a crawl that was found to be over when the bucket had revision rev.
// If the bucket has changed since, the error satisfies IsConflict.
func (x SpecExpiry) Delete(ctx context.Context, crawl string, d messages.Deletion, rev uint64) (*messages.Deletion, error) {
	if _, err := x.Deletions.next(ctx, crawl, &d); err != nil {
		return nil, err
	}
	m := &nats.Msg{Subject: "$KV." + messages.BucketCrawls + "." + messages.KeyDeletion(crawl), Data: d.Encode()}
	ack, err := x.bus.JS.PublishMsg(ctx, m, jetstream.WithExpectLastSequence(rev))
	if err != nil {
		return nil, fmt.Errorf("delete crawl %s: %w", crawl, err)
	}
	return x.Deletions.note(crawl, d, ack.Sequence), nil
}

// Fed records that seeds were published for a crawl under a spec, and reports whether that crawl
// still exists.
func (x SpecExpiry) Fed(ctx context.Context, crawl string, spec crawlspec.Revision) (bool, error) {
	if _, err := x.kv.Put(ctx, messages.KeyFed(crawl), nil); err != nil {
		return false, fmt.Errorf("note that crawl %s has seeds: %w", crawl, err)
	}
	since, err := x.Deletions.at(ctx, crawl)
	return since == spec.Since(), err
}

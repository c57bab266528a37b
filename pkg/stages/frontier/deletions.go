package frontier

import (
	"context"
	"fmt"
	"time"

	"seine/internal/base/sleep"
	"seine/internal/streams/retention"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
)

// deletionsEvery is how often a frontier checks for unfinished deletions of crawls.
const deletionsEvery = time.Second

// deletions deletes crawls, and finishes a deletion when all partitions have forgotten the crawl.
type deletions struct{ *Frontier }

// run purges deleted crawls from streams and buckets until ctx is done. The partitions forget
// theirs by themselves: see state.Removals. Only the owner of the first partition does it; two at
// once would be harmless.
func (ds deletions) run(ctx context.Context) error {
	j := ds.janitor()
	return ds.whileFirstOwner(ctx, deletionsEvery, func() {
		for crawl, d := range ds.specs.Deletions.All() {
			if err := ds.finish(ctx, j, crawl, d); err != nil && ctx.Err() == nil {
				ds.log.Debug("cannot finish the deletion of a crawl", "crawl", crawl, "error", err)
			}
		}
	})
}

// whileFirstOwner calls do repeatedly while this process owns the first partition, until ctx is
// done.
func (f *Frontier) whileFirstOwner(ctx context.Context, every time.Duration, do func()) error {
	for ctx.Err() == nil {
		f.mu.Lock()
		first := f.owned[0] != nil
		f.mu.Unlock()
		if first {
			do()
		}
		_ = sleep.For(ctx, every)
	}
	return nil
}

// finish purges a deleted crawl from streams and buckets, once no partition has anything left of
// it.
func (ds deletions) finish(ctx context.Context, j *retention.Janitor, crawl string, d *messages.Deletion) error {
	left, err := frontierapi.Client{Bus: ds.bus}.Remaining(ctx, crawl, d.Rev)
	if err != nil || left > 0 {
		return err
	}
	if err := retention.ForgetKeys(ctx, ds.bus, crawl, d); err != nil {
		return err
	}
	done, err := j.Forget(ctx, crawl, d)
	if err != nil || !done {
		return err
	}
	if err := ds.specs.Deletions.Done(ctx, crawl, d); err != nil {
		return err
	}
	ds.log.Info("removed all data of a deleted crawl", "crawl", crawl, "revision", d.Rev)
	return nil
}

// deleteCrawl stores the deletion of a crawl: from then on every stage treats it as if it had never
// existed.
func (ds deletions) deleteCrawl(ctx context.Context, crawl string) (uint64, error) {
	spec, err := ds.specs.GetSure(ctx, crawl)
	if err != nil {
		return 0, err
	}
	d, err := retention.DeletionNow(ctx, ds.bus, crawl, spec.Spec)
	if err != nil {
		return 0, fmt.Errorf("delete crawl %s: %w", crawl, err)
	}
	done, err := ds.specs.Deletions.Delete(ctx, crawl, d)
	if err != nil {
		return 0, err
	}
	ds.log.Info("crawl is deleted", "crawl", crawl, "revision", done.Rev)
	return done.Rev, nil
}

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

// deletionsEvery is how often a frontier looks what is still to be done for the
// deletions of crawls.
const deletionsEvery = time.Second

// deletions deletes crawls, and finishes that when all partitions have forgotten them.
type deletions struct{ *Frontier }

// run purges what streams and buckets have of crawls that were deleted,
// until ctx is done. The partitions forget theirs by themselves: see removal. One
// frontier does it, the owner of the first partition; that two might is harmless.
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

// whileFirstOwner calls do again and again while this process owns the first partition, until ctx is done.
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

// finish purges what streams and buckets have of a deleted crawl, if no partition has anything of it.
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
	ds.log.Info("nothing is left of a deleted crawl", "crawl", crawl, "revision", d.Rev)
	return nil
}

// deleteCrawl stores that a crawl is deleted: from there on every stage treats it as
// one that never was.
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

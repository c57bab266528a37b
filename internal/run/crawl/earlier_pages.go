package crawl

import (
	"context"

	"seine/internal/base/sleep"
)

// countBefore counts the pages that earlier runs have fetched, before this one fetches any. What
// those have left in the streams counts as theirs, so it waits until the frontier has applied it.
func (r report) countBefore(ctx context.Context) {
	for {
		behind, err := r.client.Replaying(ctx)
		if err == nil && len(behind) == 0 {
			now, err := r.client.Status(ctx, r.Crawl)
			if err == nil {
				r.before.Store(now.Pages)
				return
			}
		}
		if sleep.For(ctx, minPoll) != nil {
			return
		}
	}
}

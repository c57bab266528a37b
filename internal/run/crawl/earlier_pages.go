package crawl

import (
	"context"
	"time"

	"seine/internal/base/sleep"
)

// notCounted stands for the number of pages that earlier runs have fetched until it is known.
const notCounted = -1

// pagesBefore returns how many pages earlier runs have fetched: all of them, if this run has ended before they were
// counted, as nothing is fetched until then.
func (r report) pagesBefore() int64 {
	if n := r.before.Load(); n != notCounted {
		return n
	}
	return r.last.Pages
}

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

// drainTime bounds the wait for what the stages have sent at the end of an interrupted run: other processes may send more.
const drainTime = 2 * time.Second

// countDrained counts what an interrupted run has fetched, once the frontier has applied it, and the writers have read it.
func (r report) countDrained(ctx context.Context) {
	within, cancel := context.WithTimeout(ctx, drainTime)
	defer cancel()
	for {
		now, drained, err := r.client.Drained(within, r.Crawl)
		if err == nil {
			r.last = now.Counters
		}
		written, _ := outputs{r.crawl}.caughtUp(within)
		if drained && written || sleep.For(within, minPoll) != nil {
			break
		}
	}
	r.reasons, _ = r.client.Reasons(ctx, r.Crawl)
}

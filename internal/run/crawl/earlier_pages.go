package crawl

import (
	"context"
	"time"

	"seine/internal/base/sleep"
)

// notCounted is the value of crawl.before until the pages of earlier runs are counted.
const notCounted = -1

// pagesBefore returns the number of pages that earlier runs fetched. If the run ends before they
// are counted, these are all pages, because nothing is fetched before the count.
func (r report) pagesBefore() int64 {
	if n := r.before.Load(); n != notCounted {
		return n
	}
	return r.last.Pages
}

// countBefore counts the pages of earlier runs before this run fetches any. Pages that those runs
// left in the streams count as theirs, so it waits until the frontier has replayed the streams.
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

// drainTime bounds the wait for the streams to drain at the end of an interrupted run. Other
// processes may keep sending.
const drainTime = 2 * time.Second

// countDrained counts the pages of an interrupted run after the frontier and the writers have read
// the streams.
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

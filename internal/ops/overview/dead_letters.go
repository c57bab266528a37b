package overview

import (
	"context"

	"seine/internal/ops/deadletters"
)

// readDead counts the dead letters. It reads the newest ones if they have changed since the last
// call.
func (r *Reader) readDead(ctx context.Context, o *Overview) (deadletters.Counts, error) {
	filter := deadletters.Filter{Crawl: r.Crawl}
	counts, err := deadletters.Count(ctx, r.Bus, filter)
	o.Dead = counts.Total
	if err == nil && r.Letters > 0 && (counts.Last != r.lastSeq || int(min(o.Dead, uint64(r.Letters))) != len(r.letters)) {
		var newest deadletters.Page
		if newest, err = deadletters.Before(ctx, r.Bus, filter, 0, r.Letters); err == nil {
			r.letters, r.lastSeq = newest.Letters, counts.Last
		}
	}
	o.DeadLast = r.letters
	return counts, err
}

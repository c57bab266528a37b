package overview

import (
	"context"

	"seine/internal/ops/deadletters"
)

// readDead counts the dead letters, and reads the last ones if there are others than at the last look.
func (r *Reader) readDead(ctx context.Context, o *Overview) (deadletters.Counts, error) {
	filter := deadletters.Filter{Crawl: r.Crawl}
	counts, err := deadletters.Count(ctx, r.Bus, filter)
	o.Dead = counts.Total
	if err == nil && r.Letters > 0 && (counts.Last != r.lastSeq || int(min(o.Dead, uint64(r.Letters))) != len(r.letters)) {
		if r.letters, err = deadletters.Newest(ctx, r.Bus, filter, r.Letters); err == nil {
			r.lastSeq = counts.Last
		}
	}
	o.DeadLast = r.letters
	return counts, err
}

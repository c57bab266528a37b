package pages

import (
	"cmp"
	"slices"
	"time"

	"seine/internal/ops/overview"
)

// tookOf is how long a crawl has run.
func tookOf(c *overview.Crawl) time.Duration {
	until := time.Now()
	if s := c.StateInWords(); c.Idle || s.Ended() || s.Word == overview.Scheduled || c.State == overview.Paused {
		until = moment(c.Changed)
	}
	if c.Started == 0 || until.Before(moment(c.Started)) {
		return 0
	}
	took := until.Sub(moment(c.Started))
	if took < 10*time.Second {
		return took.Round(time.Second / 10)
	}
	return took.Round(time.Second)
}

// calm is the time within which everything counts as happening now: rows that move with each poll cannot be read.
const calm = time.Minute

// byActivity sorts crawls by when something happened last, the newest first.
func byActivity(crawls []overview.Crawl, now time.Time) []overview.Crawl {
	latest := func(c *overview.Crawl) int64 { return min(c.Changed, now.Add(-calm).UnixMilli()) }
	sorted := slices.Clone(crawls)
	slices.SortStableFunc(sorted, func(a, b overview.Crawl) int {
		return cmp.Or(cmp.Compare(latest(&b), latest(&a)), cmp.Compare(b.Started, a.Started))
	})
	return sorted
}

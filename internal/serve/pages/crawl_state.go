package pages

import (
	"cmp"
	"slices"
	"time"

	"seine/internal/ops/overview"
)

// tookOf returns how long a crawl has run.
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

// calm is the period within which all changes count as simultaneous. Otherwise rows would move with
// each poll and could not be read.
const calm = time.Minute

// byActivity sorts crawls by their last change, the newest first.
func byActivity(crawls []overview.Crawl, now time.Time) []overview.Crawl {
	latest := func(c *overview.Crawl) int64 { return min(c.Changed, now.Add(-calm).UnixMilli()) }
	sorted := slices.Clone(crawls)
	slices.SortStableFunc(sorted, func(a, b overview.Crawl) int {
		return cmp.Or(cmp.Compare(latest(&b), latest(&a)), cmp.Compare(b.Started, a.Started))
	})
	return sorted
}

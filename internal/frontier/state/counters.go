package state

import (
	"seine/internal/base/tally"
	"seine/pkg/stages/frontier/frontierapi"
)

// countAll adds a URL to the counters, including planned visits.
func countAll(c *frontierapi.Counters, r *urlRecord) {
	countRecord(c, r, 1)
	if r.State.ended() && r.Due != 0 {
		c.Planned++
	}
}

// countRecord adds by to the counters of a URL's state.
func countRecord(c *frontierapi.Counters, r *urlRecord, by int64) {
	c.Recrawling += by * r.recrawling()
	switch r.State {
	case Queued:
		c.Queued += by
	case InFlight:
		c.InFlight += by
	case Waiting:
		c.Waiting += by
	case Parsing:
		c.Parsing += by
	case Done:
		c.Done += by
		if r.isLeftOut() {
			tally.Add(&c.LeftOut, r.endedBy(), by)
		}
	case Failed:
		c.Failed += by
		tally.Add(&c.FailedBy, r.failedBy(), by)
	case Excluded:
		tally.Add(&c.Excluded, r.Reason, by)
	}
}

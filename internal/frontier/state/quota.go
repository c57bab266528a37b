package state

import (
	"time"
)

// quota is a partition's share of the budgets of a crawl, which all partitions share: see Budgets.
// The counters hold its usage.
type quota struct {
	Grant
	want  bool  // more is to be requested
	asked bool  // a request is in progress, perhaps one under the previous spec
	retry int64 // when to request again if no budget was left, Unix ns
}

// limited reports whether the crawl has any budget.
func limited(r *Rules) bool { return r.MaxPages > 0 || r.MaxBytes > 0 || r.MaxDuration > 0 }

// spent reports whether the crawl may send no more requests because all partitions together have
// used up a budget. now is the time of day.
func (q *quota) spent(c *crawl, r *Rules, now int64) bool {
	used := r.MaxPages > 0 && c.Pages >= q.Pages || r.MaxBytes > 0 && c.BytesWire >= q.Bytes
	return q.Over && used || q.late(r, now)
}

// late reports whether the crawl has exceeded its maximum duration.
func (q *quota) late(r *Rules, now int64) bool {
	return r.MaxDuration > 0 && q.Started > 0 && now >= q.Started+int64(time.Duration(r.MaxDuration))
}

// short reports whether the partition must wait for a larger grant. In-flight requests may turn out
// to yield no page.
func (q *quota) short(c *crawl, r *Rules) bool {
	short := r.MaxPages > 0 && c.Pages+c.InFlight >= q.Pages ||
		r.MaxBytes > 0 && c.BytesWire >= q.Bytes ||
		r.MaxDuration > 0 && q.Started == 0
	q.want = q.want || short
	return short
}

// idle reports whether the partition holds more than it can use.
func (q *quota) idle(c *crawl) bool {
	return c.Pending() == 0 && (q.Pages > c.Pages || q.Bytes > c.BytesWire)
}

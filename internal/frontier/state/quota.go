package state

import (
	"time"
)

// quota is what a partition may take of the budgets of a crawl, which all
// partitions share: see Budgets. What it has taken is in the counters.
type quota struct {
	Grant
	want  bool  // more is to be asked for
	asked bool  // an answer is on its way, be it to a question under the spec before
	retry int64 // when to ask again if there was no more, Unix ns
}

// limited reports whether the crawl has budgets at all.
func limited(r *Rules) bool { return r.MaxPages > 0 || r.MaxBytes > 0 || r.MaxDuration > 0 }

// spent reports whether nothing more may be sent for the crawl: all partitions
// together have used up a budget. It is so by the time of day.
func (q *quota) spent(c *crawl, r *Rules, now int64) bool {
	used := r.MaxPages > 0 && c.Pages >= q.Pages || r.MaxBytes > 0 && c.BytesWire >= q.Bytes
	return q.Over && used || q.late(r, now)
}

// late reports whether the crawl has had its time.
func (q *quota) late(r *Rules, now int64) bool {
	return r.MaxDuration > 0 && q.Started > 0 && now >= q.Started+int64(time.Duration(r.MaxDuration))
}

// short reports whether the partition must wait for more. What is in progress
// may yet turn out to be no page.
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

package state

import (
	"time"

	"seine/pkg/crawlspec"
)

// quota is what a partition may take of the budgets of a crawl, which all
// partitions share: see budgets. What it has taken is in the counters.
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

// BudgetRequest asks for more of the budgets of a crawl, or gives back what is idle.
type BudgetRequest struct {
	Crawl string
	Used  Usage
	More  bool
	Spec  crawlspec.Revision
	print uint64 // of the rules under which it asks
}

// BudgetAnswer answers it.
type BudgetAnswer struct {
	*BudgetRequest
	Grant
	Err error
}

// BudgetRequests returns what is to be asked for, or given back, now.
func (s *Partition) BudgetRequests() (all []*BudgetRequest) {
	now := s.time.clock.Now()
	for name, c := range s.crawls {
		rules := c.rules
		q := &c.quota
		if rules == nil || !limited(rules) || q.asked {
			continue
		}
		waiting := q.want || q.Over && c.Queued > 0
		if !waiting && !q.idle(c) || q.Over && now < q.retry {
			continue
		}
		used := Usage{Pages: c.Pages + c.InFlight, Bytes: c.BytesWire}
		// What it has not used it gives back with the question.
		q.want, q.asked, q.Pages, q.Bytes = false, true, min(q.Pages, used.Pages), min(q.Bytes, used.Bytes)
		all = append(all, &BudgetRequest{Crawl: name, Used: used, More: waiting, Spec: rules.Revision, print: rules.fingerprint})
	}
	return all
}

// ApplyGrant takes note of an answer. One to a question under other rules is passed
// over, and only then is asked again: of two that are in progress, the later answer
// might be to the earlier question, and what is stored as granted be less than what
// the partition takes.
func (s *Partition) ApplyGrant(a *BudgetAnswer) {
	c := s.crawls[a.Crawl]
	if c == nil || c.Since != a.Spec.Since() || c.Removing != nil {
		return // it was deleted meanwhile
	}
	if c.rules == nil || c.rules.fingerprint != a.print {
		c.quota.asked = false
		return
	}
	again := s.time.clock.Now() + int64(time.Second)
	if a.Err != nil {
		s.log.Debug("cannot ask for a budget", "crawl", a.Crawl, "error", a.Err)
		c.quota.asked, c.quota.Over, c.quota.retry = false, true, again
		return
	}
	had := c.quota
	c.quota = quota{Grant: a.Grant}
	if a.Over {
		c.quota.retry = again
	}
	if a.Pages > had.Pages || a.Bytes > had.Bytes {
		c.unpark = true
	}
}

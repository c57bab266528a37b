package frontier

import (
	"context"
	"math"
	"time"
)

// quota is what a partition may take of the budgets of a crawl, which all
// partitions share: see budgets. What it has taken is in the counters.
type quota struct {
	pages   int64 // that the partition may have fetched in all
	bytes   int64 // the same of bytes
	started int64 // when the crawl began anywhere, Unix ns; 0 if that is unknown
	want    bool  // more is to be asked for
	asked   bool  // an answer is on its way, be it to a question under the spec before
	over    bool  // there was no more, for any partition
	retry   int64 // when to ask again then, Unix ns
}

// limited reports whether the crawl has budgets at all.
func limited(r *rules) bool { return r.MaxPages > 0 || r.MaxBytes > 0 || r.MaxDuration > 0 }

// spent reports whether nothing more may be sent for the crawl: all partitions
// together have used up a budget. It is so by the time of day.
func (q *quota) spent(c *crawl, r *rules, now int64) bool {
	used := r.MaxPages > 0 && c.Pages >= q.pages || r.MaxBytes > 0 && c.BytesWire >= q.bytes
	return q.over && used || q.late(r, now)
}

// late reports whether the crawl has had its time.
func (q *quota) late(r *rules, now int64) bool {
	return r.MaxDuration > 0 && q.started > 0 && now >= q.started+int64(time.Duration(r.MaxDuration))
}

// short reports whether the partition must wait for more. What is under way
// may yet turn out to be no page.
func (q *quota) short(c *crawl, r *rules) bool {
	short := r.MaxPages > 0 && c.Pages+c.InFlight >= q.pages ||
		r.MaxBytes > 0 && c.BytesWire >= q.bytes ||
		r.MaxDuration > 0 && q.started == 0
	q.want = q.want || short
	return short
}

// idle reports whether the partition holds more than it can use.
func (q *quota) idle(c *crawl) bool {
	return c.Pending() == 0 && (q.pages > c.Pages || q.bytes > c.BytesWire)
}

// grant is an answer to a partition that asked for more of a budget.
type grant struct {
	crawl string
	print uint64 // of the rules under which it asked
	since uint64 // of the crawl that asked
	quota
	err error
}

// requestGrants asks for budgets that are short, and gives back what is idle.
func (p *partitionLoop) requestGrants(ctx context.Context) {
	now := p.f.now()
	for name, c := range p.crawls {
		rules := c.rules
		q := &c.quota
		if rules == nil || !limited(rules) || q.asked {
			continue
		}
		waiting := q.want || q.over && c.Queued > 0
		if !waiting && !q.idle(c) || q.over && now < q.retry {
			continue
		}
		used := usage{Pages: c.Pages + c.InFlight, Bytes: c.BytesWire}
		// What it has not used it gives back with the question.
		q.want, q.asked, q.pages, q.bytes = false, true, min(q.pages, used.Pages), min(q.bytes, used.Bytes)
		more, since := waiting, c.Since
		p.saver.tasks.Go(func() {
			g, err := p.f.budgets.reconcile(ctx, name, p.partition, used, more, rules.Revision)
			select {
			case p.grants <- grant{name, rules.fingerprint, since, g, err}:
			case <-ctx.Done():
			}
		})
	}
}

// granted takes note of an answer. One to a question under other rules is passed
// over, and only then is asked again: of two that are under way, the later answer
// might be to the earlier question, and what is stored as granted be less than what
// the partition takes.
func (p *partitionLoop) granted(g grant) {
	c := p.crawls[g.crawl]
	if c == nil || c.Since != g.since || c.Removing != nil {
		return // it was deleted meanwhile
	}
	if c.rules == nil || c.rules.fingerprint != g.print {
		c.quota.asked = false
		return
	}
	if g.err != nil {
		p.log.Debug("cannot ask for a budget", "crawl", g.crawl, "error", g.err)
		c.quota.asked, c.quota.over, c.quota.retry = false, true, p.f.now()+int64(time.Second)
		return
	}
	had := c.quota
	c.quota = g.quota
	if g.over {
		c.quota.retry = p.f.now() + int64(time.Second)
	}
	if g.pages > had.pages || g.bytes > had.bytes {
		c.unpark = true
	}
}

// budgetShare is how much of what is left a partition gets at once: enough to
// ask seldom, little enough that the last pages are not held by one that has
// no use for them.
func budgetShare(left int64, partitions int, least int64) int64 {
	if left <= 0 {
		return 0
	}
	if partitions == 1 {
		return left
	}
	return min(left, max(least, int64(math.Ceil(float64(left)/float64(2*partitions)))))
}

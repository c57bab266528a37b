package state

import (
	"time"

	"seine/pkg/crawlspec"
)

// Budgets are the limits that all partitions of a crawl share.
type Budgets struct {
	*core
}

// BudgetRequest requests more of a crawl's budgets, or returns the unused part.
type BudgetRequest struct {
	Crawl string
	Used  Usage
	More  bool
	Spec  crawlspec.Revision
	print uint64 // fingerprint of the requesting rules
}

// BudgetAnswer answers a BudgetRequest.
type BudgetAnswer struct {
	*BudgetRequest
	Grant
	Err error
}

// Due returns the budget requests to send now.
func (b *Budgets) Due() (all []*BudgetRequest) {
	now := b.time.clock.Now()
	for name, c := range b.crawls.active {
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
		// The request also returns the unused part of the grant.
		q.want, q.asked, q.Pages, q.Bytes = false, true, min(q.Pages, used.Pages), min(q.Bytes, used.Bytes)
		all = append(all, &BudgetRequest{Crawl: name, Used: used, More: waiting, Spec: rules.Revision, print: rules.fingerprint})
	}
	return all
}

// Apply applies an answer. It ignores an answer to a request under other rules, and only then
// allows the request to be sent again. With two requests in progress, the later answer might belong
// to the earlier request, and the stored grant be less than what the partition uses.
func (b *Budgets) Apply(a *BudgetAnswer) {
	c := b.crawls.active[a.Crawl]
	if c == nil || c.Since != a.Spec.Since() {
		return // it was deleted meanwhile
	}
	if c.rules == nil || c.rules.fingerprint != a.print {
		c.quota.asked = false
		return
	}
	again := b.time.clock.Now() + int64(time.Second)
	if a.Err != nil {
		b.log.Debug("cannot ask for a budget", "crawl", a.Crawl, "error", a.Err)
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

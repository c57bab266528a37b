package frontier

import "sync"

// budgets keep each crawl within its number of pages, over all partitions of
// the process. A request reserves a page before it is sent, so that the limit
// is met exactly however many are under way.
type budgets struct {
	mu     sync.Mutex
	crawls map[string]*budget
}

type budget struct{ pages, reserved int64 }

func (b *budgets) of(crawl string) *budget {
	if b.crawls == nil {
		b.crawls = make(map[string]*budget)
	}
	if b.crawls[crawl] == nil {
		b.crawls[crawl] = new(budget)
	}
	return b.crawls[crawl]
}

// reserve takes one page of the crawl's limit; no limit is 0.
func (b *budgets) reserve(crawl string, limit int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.of(crawl)
	if limit > 0 && c.pages+c.reserved >= limit {
		return false
	}
	c.reserved++
	return true
}

// settle ends a reservation, with a page or without.
func (b *budgets) settle(crawl string, page bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.of(crawl)
	c.reserved--
	if page {
		c.pages++
	}
}

// move adds what a partition brings along, or takes away.
func (b *budgets) move(crawl string, pages, reserved int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.of(crawl)
	c.pages += pages
	c.reserved += reserved
}

package stages

import "sync"

// recentCrawls is for how many crawls RecentCrawls keeps something at least.
const recentCrawls = 512

// RecentCrawls keeps what is made for a crawl, such as compiled rules, of those that
// were asked for last: what there is of crawls that have ended goes. The zero value
// is empty. It is safe for concurrent use.
type RecentCrawls[T any] struct {
	mu           sync.Mutex
	now, earlier map[string]T // when there are enough, they are the earlier ones, and those go
}

// Get returns what is kept for a crawl, and whether anything is.
func (c *RecentCrawls[T]) Get(crawl string) (of T, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if of, ok = c.now[crawl]; ok {
		return of, true
	}
	if of, ok = c.earlier[crawl]; ok {
		c.put(crawl, of)
	}
	return of, ok
}

// Put keeps something for a crawl, in place of what was.
func (c *RecentCrawls[T]) Put(crawl string, of T) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(crawl, of)
}

func (c *RecentCrawls[T]) put(crawl string, of T) {
	if _, there := c.now[crawl]; c.now == nil || !there && len(c.now) >= recentCrawls {
		c.now, c.earlier = make(map[string]T), c.now
	}
	c.now[crawl] = of
}

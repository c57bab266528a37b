package stages

import "sync"

// recentCrawls is for how many crawls RecentCrawls keeps something at least.
const recentCrawls = 512

// RecentCrawls keeps what is made for a crawl, such as compiled rules, of those that
// were asked for last: what there is of crawls that have ended goes. The zero value
// is empty. It is safe for concurrent use.
type RecentCrawls[T any] struct{ Recent[string, T] }

// Recent does the same for keys of any kind.
type Recent[K comparable, T any] struct {
	mu           sync.Mutex
	now, earlier map[K]T // when there are enough, they are the earlier ones, and those go
}

// Get returns what is kept for a key, and whether anything is.
func (c *Recent[K, T]) Get(key K) (of T, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if of, ok = c.now[key]; ok {
		return of, true
	}
	if of, ok = c.earlier[key]; ok {
		c.put(key, of)
	}
	return of, ok
}

// Put keeps something for a key, in place of what was.
func (c *Recent[K, T]) Put(key K, of T) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(key, of)
}

func (c *Recent[K, T]) put(key K, of T) {
	if _, there := c.now[key]; c.now == nil || !there && len(c.now) >= recentCrawls {
		c.now, c.earlier = make(map[K]T), c.now
	}
	c.now[key] = of
}

package stages

import (
	"seine/internal/base/recent"
	"seine/pkg/crawlspec"
)

// SpecCache caches a value made from a crawl's spec, such as compiled rules, until the crawl has
// another revision, or the value has not been used while those of many other crawls were. It is
// safe for concurrent use.
type SpecCache[T any] struct {
	Make func(*crawlspec.Spec) T
	// Current reports whether a cached value is still valid; nil means that values never expire.
	Current func(T) bool

	byCrawl recent.Cache[string, made[T]]
}

type made[T any] struct {
	spec *crawlspec.Spec // each revision has its own
	of   T
}

// Peek returns the cached value of a crawl, and whether there is one.
func (c *SpecCache[T]) Peek(crawl string) (of T, found bool) {
	m, found := c.byCrawl.Get(crawl)
	return m.of, found
}

// Get returns the value made from the spec of the crawl.
func (c *SpecCache[T]) Get(crawl string, spec *crawlspec.Spec) T {
	if m, ok := c.byCrawl.Get(crawl); ok && m.spec == spec && (c.Current == nil || c.Current(m.of)) {
		return m.of
	}
	m := made[T]{spec, c.Make(spec)}
	c.byCrawl.Put(crawl, m)
	return m.of
}

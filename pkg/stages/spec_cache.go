package stages

import (
	"seine/internal/base/recent"
	"seine/pkg/crawlspec"
)

// SpecCache keeps what is made of a crawl's spec, such as compiled rules, until the
// crawl has another revision, or has not been asked for while many others were. It is safe for concurrent use.
type SpecCache[T any] struct {
	Make func(*crawlspec.Spec) T
	// Current reports whether what was made need not be made again; nil if it never need be.
	Current func(T) bool

	byCrawl recent.Cache[string, made[T]]
}

type made[T any] struct {
	spec *crawlspec.Spec // each revision has its own
	of   T
}

// Peek returns what was made of the spec of a crawl last, and whether anything is kept.
func (c *SpecCache[T]) Peek(crawl string) (of T, found bool) {
	m, found := c.byCrawl.Get(crawl)
	return m.of, found
}

// Get returns what is made of a spec of the crawl.
func (c *SpecCache[T]) Get(crawl string, spec *crawlspec.Spec) T {
	if m, ok := c.byCrawl.Get(crawl); ok && m.spec == spec && (c.Current == nil || c.Current(m.of)) {
		return m.of
	}
	m := made[T]{spec, c.Make(spec)}
	c.byCrawl.Put(crawl, m)
	return m.of
}

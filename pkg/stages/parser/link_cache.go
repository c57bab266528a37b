package parser

import (
	"hash/maphash"
	"strings"
	"sync/atomic"
)

// linkCache remembers links that were published recently, so that the menu of a site is not sent to
// the frontier with every page. It may forget any link, which costs a message, but never reports an
// unpublished link, which would then be omitted. So it adds only acknowledged links, and compares
// whole URLs.
type linkCache struct {
	seed  maphash.Seed
	slots [linkSlots]atomic.Pointer[sentLink]
}

// linkSlots bounds the memory: 64 Ki links, about 8 MiB.
const linkSlots = 1 << 16

// origin identifies for which run a link was sent: the next run of a crawl visits it again, and so
// does a new crawl with the name of a deleted one.
type origin struct {
	crawl string
	run   int64
}

type sentLink struct {
	from  origin
	url   string
	depth int
}

func newLinkCache() *linkCache { return &linkCache{seed: maphash.MakeSeed()} }

func (c *linkCache) slot(url string) *atomic.Pointer[sentLink] {
	return &c.slots[maphash.String(c.seed, url)%linkSlots]
}

// has reports whether the link was published with at most this depth.
func (c *linkCache) has(from origin, url string, depth int) bool {
	l := c.slot(url).Load()
	return l != nil && l.url == url && l.from == from && l.depth <= depth
}

// add records links that have been published.
func (c *linkCache) add(from origin, links []discoveredLink) {
	for _, l := range links {
		// The URL may share the memory of a page's body, which must not be kept.
		c.slot(l.URL).Store(&sentLink{from: from, url: strings.Clone(l.URL), depth: l.depth})
	}
}

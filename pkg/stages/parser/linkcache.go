package parser

import (
	"hash/maphash"
	"strings"
	"sync/atomic"
)

// linkCache remembers links that were published lately, so that the menu of a
// site is not sent to the frontier with every page. It forgets whatever it
// likes, which costs a message, but it never claims what is not so: a link that
// was not published must not be left out. So it learns only what has been
// acknowledged, and compares whole URLs.
type linkCache struct {
	seed  maphash.Seed
	slots [linkSlots]atomic.Pointer[sentLink]
}

// linkSlots bounds the memory: 64 Ki links, about 8 MiB.
const linkSlots = 1 << 16

type sentLink struct {
	crawl, url string
	depth      int
}

func newLinkCache() *linkCache { return &linkCache{seed: maphash.MakeSeed()} }

func (c *linkCache) slot(url string) *atomic.Pointer[sentLink] {
	return &c.slots[maphash.String(c.seed, url)%linkSlots]
}

// has reports whether the link was published with at most this depth.
func (c *linkCache) has(crawl, url string, depth int) bool {
	l := c.slot(url).Load()
	return l != nil && l.url == url && l.crawl == crawl && l.depth <= depth
}

// add remembers links that have been published.
func (c *linkCache) add(crawl string, urls []string, depth int) {
	for _, u := range urls {
		// A URL may be part of a page's body; do not keep that.
		c.slot(u).Store(&sentLink{crawl: crawl, url: strings.Clone(u), depth: depth})
	}
}

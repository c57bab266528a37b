package state

// Layouts of a crawl's keys. The store is brought to the newest by a review,
// which goes through all URLs, while the crawl goes on.
const (
	// layoutBeing is an older layout that a review has begun to replace: 0.
	layoutBeing = 1
	// layoutRoots has opened hosts and what waits for them under both the domain and
	// the host, so that they hold for every scope.
	layoutRoots = 2
	// layoutListing is layoutRoots that a review has begun to replace.
	layoutListing = 3
	// layoutFailed lists the URLs that failed.
	layoutFailed = 4
)

// convert begins the review that brings the keys of an older build to the
// next layout. An older build that was used again meanwhile has listed no failures.
func (c *crawl) convert() {
	switch {
	case c.Layout == 0:
		c.Layout, c.Review, c.dirty = layoutBeing, &sweep{}, true
	case c.Layout == layoutRoots, c.Layout == layoutFailed && c.Build != buildPrint():
		c.Layout, c.Review, c.dirty = layoutListing, c.Review.anew(), true
	}
}

// layOut ends it: what the older layout had is not needed any more.
func (s *Partition) layOut(name string, c *crawl) {
	switch c.Layout {
	case layoutListing:
		c.Layout = layoutFailed
	case layoutBeing:
		s.tx.deletePrefix(named(prefix(s.partition, oldKindRoot), name))
		s.tx.deletePrefix(named(prefix(s.partition, oldKindOutside), name))
		c.Layout = layoutRoots
		c.convert()
	}
}

// oldRootKey is where an older build has noted that a root is open: it had those of
// the scope at that time.
func (s *Partition) oldRootKey(crawl string, r root) []byte {
	text := r.host
	if text == "" {
		text = r.domain
	}
	return named(named(prefix(s.partition, oldKindRoot), crawl), text)
}

package stages

import (
	"cmp"
	"slices"
	"time"

	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// specNews are the changes in the order in which they became known: at least the last one of each
// crawl.
type specNews []crawlspec.Change

// leastNews is how many changes are always kept, however few crawls there are.
const leastNews = 64

func (n *specNews) add(c crawlspec.Change, crawls int) {
	if *n = append(*n, c); len(*n) > 2*crawls+leastNews {
		n.shorten()
	}
}

// shorten keeps only the last change of each crawl.
func (n *specNews) shorten() {
	later := make(map[string]bool)
	kept := make([]crawlspec.Change, 0, len(*n))
	for _, c := range slices.Backward(*n) {
		if !later[c.Crawl] {
			later[c.Crawl] = true
			kept = append(kept, c)
		}
	}
	slices.Reverse(kept)
	*n = kept
}

// since returns the changes that became known after a generation.
func (n specNews) since(generation uint64) []crawlspec.Change {
	first, _ := slices.BinarySearchFunc(n, generation+1, func(c crawlspec.Change, g uint64) int { return cmp.Compare(c.Generation, g) })
	return slices.Clone(n[first:])
}

// changed records a change. The caller holds the lock.
func (s *Specs) changed(crawl string, rev uint64) {
	g := s.generation.Add(1)
	s.news.add(crawlspec.Change{Crawl: crawl, Rev: rev, Generation: g}, len(s.byCrawl))
}

// Generation returns a number that grows with every change of a spec.
func (s *Specs) Generation() uint64 { return s.generation.Load() }

// Changes returns the changes that became known after a generation, at least the last change of
// each crawl.
func (s *Specs) Changes(since uint64) []crawlspec.Change {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.news.since(since)
}

// Crawls returns the known crawls that have their own spec, sorted by name.
func (s *Specs) Crawls() []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	names := make([]string, 0, len(s.byCrawl))
	for crawl, r := range s.byCrawl {
		if r.own() {
			names = append(names, crawl)
		}
	}
	slices.Sort(names)
	return names
}

// HasOwn reports whether a crawl is known to have its own spec.
func (s *Specs) HasOwn(crawl string) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	r := s.byCrawl[crawl]
	return r.own()
}

// Seeded reports whether the known spec of a crawl lists seeds.
func (s *Specs) Seeded(crawl string) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.byCrawl[crawl].seeded
}

// Known returns how far the bucket has been read. A later call of Changes includes everything up to
// there.
func (s *Specs) Known() crawlspec.Progress {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.watched
}

// follows records which bucket is read from its beginning. It forgets the specs of another bucket,
// whose revisions mean nothing here.
func (s *Specs) follows(created time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := created.UnixNano()
	if s.watched.Bucket == at {
		return
	}
	if s.watched.Bucket != 0 {
		known := s.byCrawl
		clear(s.ignored)
		s.byCrawl, s.deletions = make(map[string]storedSpec), make(map[string]*messages.Deletion)
		for crawl := range known {
			s.changed(crawl, 0)
		}
	}
	s.watched = crawlspec.Progress{Bucket: at}
}

// reached records how far the bucket has been read.
func (s *Specs) reached(rev uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watched.Rev = max(s.watched.Rev, rev)
}

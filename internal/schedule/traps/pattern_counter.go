package traps

import "math"

// PatternCounter counts the URLs of one crawl by their patterns. It takes a few KiB for a small
// crawl, and 1 MiB at most with the default limits, which limits its precision: see table. It is
// not safe for concurrent use.
type PatternCounter struct {
	fine   table[uint32]   // new URLs by fine shape
	sets   table[smallSet] // sets of parameter names by path
	coarse table[content]  // pages by coarse shape
}

// content describes the pages of a coarse shape.
type content struct {
	pages    uint32
	distinct hyperLogLog
}

// Maximum entries of the tables, of 13, 33 and 81 bytes, plus two bytes for each parameter set of a
// path.
const (
	maxFine   = 16 << 10
	maxSets   = 2 << 10
	maxCoarse = 4 << 10
)

// NewPatternCounter returns an empty counter.
func NewPatternCounter() *PatternCounter {
	return &PatternCounter{fine: newTable[uint32](maxFine), sets: newTable[smallSet](maxSets), coarse: newTable[content](maxCoarse)}
}

// Admit counts a new canonical URL, unless a guard excludes it; then it returns the guard's reason.
func (p *PatternCounter) Admit(url string, l *Limits) Reason {
	k := keysOf(url)
	if p.coarse.find(k.coarse).exhausted(l) {
		return SameContent
	}
	if l.MaxSameShape > 0 {
		if n := p.fine.find(k.fine); n != nil && int64(*n) >= l.MaxSameShape {
			return SameShape
		}
	}
	if k.set != 0 && !p.addSet(&k, l.MaxParameterSets) {
		return ParameterSets
	}
	p.addFine(&k)
	return ""
}

// Exhausted checks an admitted URL again when it is about to be fetched. Many URLs may have been
// queued before their shape turned out to have no distinct content. It counts nothing.
func (p *PatternCounter) Exhausted(url string, l *Limits) Reason {
	if l.SameContentAfter > 0 && len(p.coarse.keys) > 0 && p.coarse.find(coarseOf(url)).exhausted(l) {
		return SameContent
	}
	return ""
}

// Fetched counts a page that was fetched for the first time, by the hash of its content. 0 means
// unknown content, which is not counted.
func (p *PatternCounter) Fetched(url string, content uint64) {
	if content == 0 {
		return
	}
	c := p.coarse.touch(coarseOf(url))
	if c == nil {
		return
	}
	if c.pages < math.MaxUint32 {
		c.pages++
	}
	c.distinct.add(content)
}

// Restore counts a URL that was admitted before, and its page if that was parsed. The counts do not
// depend on the order of URLs as long as the tables drop no entries.
func (p *PatternCounter) Restore(url string, content uint64, parsed bool) {
	k := keysOf(url)
	if k.set != 0 {
		p.addSet(&k, 0)
	}
	p.addFine(&k)
	if parsed {
		p.Fetched(url, content)
	}
}

// Merge adds the counts of another counter, of other URLs. Content that both have seen counts once.
// The other counter must not be used afterwards.
func (p *PatternCounter) Merge(o *PatternCounter) {
	o.fine.each(func(key uint64, lives uint8, n *uint32) {
		if mine := p.fine.lend(key, lives); mine != nil {
			*mine = uint32(min(math.MaxUint32, uint64(*mine)+uint64(*n)))
		}
	})
	o.sets.each(func(key uint64, lives uint8, f *smallSet) {
		if mine := p.sets.lend(key, lives); mine != nil {
			mine.join(*f)
		}
	})
	o.coarse.each(func(key uint64, lives uint8, c *content) {
		if mine := p.coarse.lend(key, lives); mine != nil {
			mine.pages = uint32(min(math.MaxUint32, uint64(mine.pages)+uint64(c.pages)))
			mine.distinct.join(&c.distinct)
		}
	})
}

// exhausted reports whether the pages of a shape have too little distinct content: less than one in
// ten.
func (c *content) exhausted(l *Limits) bool {
	return c != nil && l.SameContentAfter > 0 && int64(c.pages) >= l.SameContentAfter &&
		uint64(c.distinct.count)*10 < uint64(c.pages)
}

// addSet counts a set of parameter names for its path. It returns false, without counting, for a
// new set beyond the limit.
func (p *PatternCounter) addSet(k *keys, limit int) bool {
	f := p.sets.touch(k.path)
	if f == nil {
		return true
	}
	if limit > 0 && limit <= maxFew && len(*f) >= limit && !f.has(k.set) {
		return false
	}
	f.add(k.set)
	return true
}

func (p *PatternCounter) addFine(k *keys) {
	if n := p.fine.touch(k.fine); n != nil && *n < math.MaxUint32 {
		*n++
	}
}

package state

import (
	"encoding/binary"
	"hash/maphash"
	"slices"

	"seine/pkg/messages"
)

// recentLinks remembers the links that were known when they last came: half of all
// links lead to where others have led before. One that is no nearer to a seed, no
// more urgent and of no later run than it was then changes nothing, as a record
// only ever gets nearer, more urgent and later; so it needs no look at the disk.
//
// It is a table for all crawls of a partition, in ten bytes for each URL, which
// grows with their number to its limit and forgets the oldest. What it says is
// as good as certain: 64 bits of the identity are compared, and some twenty of
// the others have led to the place.
type recentLinks struct {
	tags  []uint64 // 0 is free
	what  []uint16 // its priority and depth
	most  int      // entries
	added int
}

const (
	recentWays  = 4       // entries that a URL may be in
	leastRecent = 1 << 12 // entries
	recentBytes = 10      // of one entry
	depthBits   = 12
)

func newRecentLinks(bytes int64) *recentLinks {
	r := &recentLinks{most: max(leastRecent, int(bytes/recentBytes))}
	r.resize(leastRecent)
	return r
}

// resize makes the table larger. Each of its sets begins with what the set had that was in its place: see slots.
func (t *recentLinks) resize(n int) {
	n -= n % recentWays
	tags, what := make([]uint64, n), make([]uint16, n)
	for first := 0; first < n && len(t.tags) > 0; first += recentWays {
		was := first / recentWays * (len(t.tags) / recentWays) / (n / recentWays) * recentWays
		copy(tags[first:], t.tags[was:was+recentWays])
		copy(what[first:], t.what[was:was+recentWays])
	}
	t.tags, t.what, t.added = tags, what, 0
}

var recentSeed = maphash.MakeSeed()

// saltOf tells crawls, those of one name after a deletion, and their runs apart in a
// table.
func saltOf(crawl string, since uint64, run int64) uint64 {
	return maphash.Comparable(recentSeed, struct {
		crawl string
		since uint64
		run   int64
	}{crawl, since, run})
}

// slots returns the entries that a URL may be in, and how it is known there.
func (t *recentLinks) slots(salt uint64, h messages.URLHash) (first int, tag uint64) {
	sets := uint64(len(t.tags) / recentWays)
	first = recentWays * int(uint64(binary.BigEndian.Uint32(h[12:])^uint32(salt>>32))*sets>>32)
	return first, max(1, binary.BigEndian.Uint64(h[4:12])^salt)
}

// covers reports whether r says nothing new about the URL. The current run is
// the one that the salt stands for.
func (t *recentLinks) covers(r *urlRecord, run int64, salt uint64, h messages.URLHash) bool {
	if r.Seed || r.Run > run {
		return false
	}
	first, tag := t.slots(salt, h)
	for i := first; i < first+recentWays; i++ {
		if t.tags[i] == tag {
			w := t.what[i]
			return r.Own >= byte(w>>depthBits) && r.Depth >= int(w&(1<<depthBits-1))
		}
	}
	return false
}

// add remembers what is known of a URL.
func (t *recentLinks) add(r *urlRecord, run int64, salt uint64, h messages.URLHash) {
	if r.Run != run || r.Depth >= 1<<depthBits {
		return
	}
	if t.added >= len(t.tags) && len(t.tags) < t.most {
		t.resize(min(4*len(t.tags), t.most))
	}
	first, tag := t.slots(salt, h)
	tags, what := t.tags[first:first+recentWays], t.what[first:first+recentWays]
	at := slices.Index(tags, tag)
	if at < 0 { // the oldest of them is forgotten
		at = recentWays - 1
		t.added++
	}
	copy(tags[1:], tags[:at])
	copy(what[1:], what[:at])
	tags[0], what[0] = tag, uint16(r.Own)<<depthBits|uint16(r.Depth)
}

package state

import (
	"encoding/binary"
	"hash/maphash"
	"slices"

	"seine/pkg/messages"
)

// recentLinks remembers recently seen links to known URLs: half of all links lead to known URLs. A
// link changes nothing if it is no nearer to a seed, no more urgent and of no later run than the
// remembered one, as a record only ever moves that way. So it needs no read of the store.
//
// The table is shared by all crawls of a partition and takes ten bytes per URL. It grows to its
// limit and then forgets the oldest. A false match is practically impossible: it compares 64 bits
// of the hash, and some twenty other bits select the set.
type recentLinks struct {
	tags  []uint64 // 0 is free
	what  []uint16 // priority and depth
	most  int      // maximum entries
	added int
}

const (
	recentWays  = 4       // entries that may hold a URL
	leastRecent = 1 << 12 // entries
	recentBytes = 10      // of one entry
	depthBits   = 12
)

func newRecentLinks(bytes int64) *recentLinks {
	r := &recentLinks{most: max(leastRecent, int(bytes/recentBytes))}
	r.resize(leastRecent)
	return r
}

// resize enlarges the table. Each set begins with the entries of the set that was in its place: see
// slots.
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

// saltOf returns a hash that distinguishes crawls, crawls of the same name before and after a
// deletion, and their runs.
func saltOf(crawl string, since uint64, run int64) uint64 {
	return maphash.Comparable(recentSeed, struct {
		crawl string
		since uint64
		run   int64
	}{crawl, since, run})
}

// slots returns the first entry of the URL's set, and the URL's tag.
func (t *recentLinks) slots(salt uint64, h messages.URLHash) (first int, tag uint64) {
	sets := uint64(len(t.tags) / recentWays)
	first = recentWays * int(uint64(binary.BigEndian.Uint32(h[12:])^uint32(salt>>32))*sets>>32)
	return first, max(1, binary.BigEndian.Uint64(h[4:12])^salt)
}

// covers reports whether r adds nothing to the remembered URL. run is the current run, which the
// salt belongs to.
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

// add remembers a URL.
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
	if at < 0 { // replaces the oldest
		at = recentWays - 1
		t.added++
	}
	copy(tags[1:], tags[:at])
	copy(what[1:], what[:at])
	tags[0], what[0] = tag, uint16(r.Own)<<depthBits|uint16(r.Depth)
}

package frontier

import (
	"encoding/binary"

	"seine/pkg/messages"
)

// recent remembers the links that were known when they last came: the menu of a
// site comes with each of its pages. A link that is no nearer to a seed, no more
// urgent and of no later run than it was then changes nothing, as a record only
// ever gets nearer, more urgent and later; so it needs no look at the disk.
type recent [recentSize]recentLink

type recentLink struct {
	hash     messages.URLHash
	depth    int32
	priority byte
	run      int64
}

// recentSize is of one crawl in one partition: 160 KiB.
const recentSize = 4096

func (t *recent) slot(h messages.URLHash) *recentLink {
	return &t[binary.BigEndian.Uint32(h[12:])%recentSize]
}

// covers reports whether r says nothing new about the URL.
func (t *recent) covers(r *record, h messages.URLHash) bool {
	l := t.slot(h)
	return l.hash == h && r.Depth >= int(l.depth) && r.Priority >= l.priority && r.Run <= l.run && !r.Seed
}

// add remembers what is known of a URL.
func (t *recent) add(r *record, h messages.URLHash) {
	*t.slot(h) = recentLink{h, int32(r.Depth), r.Priority, r.Run}
}

package state

import (
	"encoding/binary"

	"seine/pkg/messages"
)

// smallHashSet is a set of hashes that begins small: a table that is at most three
// quarters full, in which a hash is at its place or behind it. The zero value is empty.
type smallHashSet struct {
	slots []messages.URLHash // a zero one is free
	n     int
}

const (
	firstSlots = 8
	mostSlots  = 512 // of 16 bytes
	hashBytes  = len(messages.URLHash{})
)

// find returns where a hash is, or the free slot that it belongs in.
func (f *smallHashSet) find(h messages.URLHash) int {
	// The first bytes are those of the host.
	at := int(binary.BigEndian.Uint32(h[hashBytes-4:]))
	for ; ; at++ {
		if at &= len(f.slots) - 1; f.slots[at] == h || f.slots[at] == (messages.URLHash{}) {
			return at
		}
	}
}

func (f *smallHashSet) has(h messages.URLHash) bool { return f.n > 0 && f.slots[f.find(h)] == h }

// add takes in a hash, false if there is no room for it.
func (f *smallHashSet) add(h messages.URLHash) bool {
	if 4*(f.n+1) > 3*len(f.slots) && !f.grow() {
		return false
	}
	if at := f.find(h); f.slots[at] != h {
		f.slots[at] = h
		f.n++
	}
	return true
}

func (f *smallHashSet) grow() bool {
	if len(f.slots) >= mostSlots {
		return false
	}
	larger := smallHashSet{slots: make([]messages.URLHash, max(firstSlots, 2*len(f.slots)))}
	for _, h := range f.slots {
		if h != (messages.URLHash{}) {
			larger.add(h)
		}
	}
	filterBytes.Add(int64((len(larger.slots) - len(f.slots)) * hashBytes))
	*f = larger
	return true
}

// drop is called when the set is not used any more.
func (f *smallHashSet) drop() { filterBytes.Add(-int64(len(f.slots) * hashBytes)) }

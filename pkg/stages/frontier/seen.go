package frontier

import (
	"github.com/bits-and-blooms/bloom/v3"

	"seine/pkg/messages"
)

// seen answers "certainly new" without touching the disk. It is a stack of
// bloom filters: when one is full, the next is four times larger and half as
// tolerant, so the rate of false positives stays below twice the first one's
// however far the crawl grows (Almeida et al., Scalable Bloom Filters, 2007).
// A false positive costs a read of the store, never a page.
type seen struct {
	layers []*bloom.BloomFilter
	room   uint    // how many more the last layer takes
	size   uint    // of the last layer
	rate   float64 // of the last layer
}

// First layer of a filter: 16 Ki URLs of one crawl in one partition, 30 KiB.
const (
	seenFirst = 16 << 10
	seenRate  = 0.0005
)

func newSeen() *seen {
	s := &seen{size: seenFirst, rate: seenRate}
	s.grow()
	return s
}

func (s *seen) grow() {
	s.layers = append(s.layers, bloom.NewWithEstimates(s.size, s.rate))
	s.room = s.size
	s.size, s.rate = s.size*4, s.rate/2
}

// has reports whether the URL may have been added.
func (s *seen) has(h messages.URLHash) bool {
	for i := len(s.layers) - 1; i >= 0; i-- { // the newest holds the most
		if s.layers[i].Test(h[:]) {
			return true
		}
	}
	return false
}

// add remembers the URL.
func (s *seen) add(h messages.URLHash) {
	if s.room == 0 {
		s.grow()
	}
	s.room--
	s.layers[len(s.layers)-1].Add(h[:])
}

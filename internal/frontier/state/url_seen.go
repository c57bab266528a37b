package state

import (
	"sync/atomic"

	"github.com/bits-and-blooms/bloom/v3"

	"seine/pkg/messages"
)

// seen answers "certainly new" without a disk access. As most crawls have few URLs in a partition,
// it begins as a set of hashes and continues as a stack of bloom filters. When one is full, the
// next is four times larger and has half its error rate. So the rate of false positives stays below
// twice the first one's however far the crawl grows (Almeida et al., Scalable Bloom Filters, 2007).
// A false positive costs a read of the store, never a page.
type seen struct {
	few     map[messages.URLHash]struct{} // used until there are layers
	layers  []*bloom.BloomFilter
	room    uint    // free entries in the last layer
	size    uint    // of the next layer
	rate    float64 // of the next layer
	loading bool    // not everything on disk has been added yet
}

// First layer of a filter: 16 Ki URLs of one crawl in one partition, 30 KiB.
const (
	seenFirst = 16 << 10
	seenRate  = 0.0005
)

// mostFew is the maximum number of hashes kept in a map, where each takes about fewBytes.
const (
	mostFew  = 384
	fewBytes = 24
)

func newSeen() *seen { return &seen{size: seenFirst, rate: seenRate} }

func (s *seen) grow() {
	layer := bloom.NewWithEstimates(s.size, s.rate)
	filterBytes.Add(int64(layer.Cap() / 8))
	s.layers = append(s.layers, layer)
	s.room = s.size
	s.size, s.rate = s.size*4, s.rate/2
}

// filterBytes is the memory of all filters in the process.
var filterBytes atomic.Int64

// FilterBytes returns the memory that the filters of known URLs take in this process. It grows with
// the crawl.
func FilterBytes() int64 { return filterBytes.Load() }

// drop releases the memory accounting of a filter that is no longer used.
func (s *seen) drop() {
	filterBytes.Add(int64(-fewBytes * len(s.few)))
	for _, l := range s.layers {
		filterBytes.Add(-int64(l.Cap() / 8))
	}
}

// has reports whether the URL may have been added.
func (s *seen) has(h messages.URLHash) bool {
	if _, few := s.few[h]; few || s.loading {
		return true
	}
	for i := len(s.layers) - 1; i >= 0; i-- { // the newest holds the most
		if s.layers[i].Test(h[:]) {
			return true
		}
	}
	return false
}

// add adds the URL.
func (s *seen) add(h messages.URLHash) {
	if len(s.layers) == 0 && len(s.few) < mostFew {
		s.addFew(h)
		return
	}
	if few := s.few; few != nil {
		filterBytes.Add(int64(-fewBytes * len(few)))
		s.few = nil
		s.grow()
		s.addAll(few)
	}
	if s.room == 0 {
		s.grow()
	}
	s.room--
	s.layers[len(s.layers)-1].Add(h[:])
}

func (s *seen) addFew(h messages.URLHash) {
	if s.few == nil {
		s.few = make(map[messages.URLHash]struct{})
	}
	if _, known := s.few[h]; !known {
		s.few[h] = struct{}{}
		filterBytes.Add(fewBytes)
	}
}

func (s *seen) addAll(few map[messages.URLHash]struct{}) {
	for h := range few {
		s.add(h)
	}
}

// join adds the contents of another filter, and continues in its last layer.
func (s *seen) join(o *seen) {
	if len(o.layers) == 0 {
		s.addAll(o.few)
		o.drop()
		s.loading = false
		return
	}
	if len(s.layers) > 0 {
		o.layers = append(s.layers, o.layers...)
	} else {
		o.addAll(s.few)
		s.drop()
	}
	o.loading = false
	*s = *o
}

package state

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/bits-and-blooms/bloom/v3"
	"github.com/cockroachdb/pebble/v2"

	"seine/internal/schedule/traps"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/table"
)

// seen answers "certainly new" without touching the disk. As most crawls have few
// URLs in a partition, it begins as a table of their hashes, and continues as a stack of
// bloom filters: when one is full, the next is four times larger and half as
// tolerant, so the rate of false positives stays below twice the first one's
// however far the crawl grows (Almeida et al., Scalable Bloom Filters, 2007).
// A false positive costs a read of the store, never a page.
type seen struct {
	few     smallHashSet // unless there are layers
	layers  []*bloom.BloomFilter
	room    uint    // how many more the last layer takes
	size    uint    // of the next layer
	rate    float64 // of the next layer
	loading bool    // what is on the disk is not all in it yet
}

// First layer of a filter: 16 Ki URLs of one crawl in one partition, 30 KiB.
const (
	seenFirst = 16 << 10
	seenRate  = 0.0005
)

func newSeen() *seen { return &seen{size: seenFirst, rate: seenRate} }

func (s *seen) grow() {
	layer := bloom.NewWithEstimates(s.size, s.rate)
	filterBytes.Add(int64(layer.Cap() / 8))
	s.layers = append(s.layers, layer)
	s.room = s.size
	s.size, s.rate = s.size*4, s.rate/2
}

// filterBytes is what the filters of the process take.
var filterBytes atomic.Int64

// FilterBytes returns the memory that the filters of known URLs take in this
// process: what grows with the crawl.
func FilterBytes() int64 { return filterBytes.Load() }

// drop is called when the filter is not used any more.
func (s *seen) drop() {
	s.few.drop()
	for _, l := range s.layers {
		filterBytes.Add(-int64(l.Cap() / 8))
	}
}

// has reports whether the URL may have been added.
func (s *seen) has(h messages.URLHash) bool {
	if s.loading || s.few.has(h) {
		return true
	}
	for i := len(s.layers) - 1; i >= 0; i-- { // the newest holds the most
		if s.layers[i].Test(h[:]) {
			return true
		}
	}
	return false
}

// add remembers the URL.
func (s *seen) add(h messages.URLHash) {
	if len(s.layers) == 0 {
		if s.few.add(h) {
			return
		}
		s.addFew(&s.few)
	}
	if s.room == 0 {
		s.grow()
	}
	s.room--
	s.layers[len(s.layers)-1].Add(h[:])
}

// addFew moves what a table holds into layers.
func (s *seen) addFew(f *smallHashSet) {
	moved := *f
	*f = smallHashSet{}
	if len(s.layers) == 0 {
		s.grow()
	}
	for _, h := range moved.slots {
		if h != (messages.URLHash{}) {
			s.add(h)
		}
	}
	moved.drop()
}

// join takes in what another filter knows, and continues in its last layer.
func (s *seen) join(o *seen) {
	switch {
	case len(o.layers) > 0 && len(s.layers) > 0:
		o.layers = append(s.layers, o.layers...)
	case len(o.layers) > 0:
		o.addFew(&s.few)
	default:
		for _, h := range o.few.slots {
			if h != (messages.URLHash{}) {
				s.add(h)
			}
		}
		o.drop()
		s.loading = false
		return
	}
	o.loading = false
	*s = *o
}

// loader fills the filters from the store while the partition already works: until
// then, each URL is looked up on the disk.
type loader struct {
	ctx    context.Context
	cancel context.CancelFunc
	done   sync.WaitGroup
	loaded chan *loadedCrawl
}

type loadedCrawl struct {
	name   string
	of     *seen // that what is loaded belongs to: the crawl may be gone meanwhile
	seen   *seen
	shapes *traps.PatternCounter
}

// stop ends the loading.
func (l *loader) stop() {
	l.cancel()
	l.done.Wait()
}

// collect puts to use what has been loaded.
func (l *loader) collect(cs *crawls) {
	for {
		select {
		case c := <-l.loaded:
			c.putToUse(cs)
		default:
			return
		}
	}
}

func (c *loadedCrawl) putToUse(cs *crawls) {
	if now := cs.active[c.name]; now != nil && now.seen == c.of {
		now.seen.join(c.seen)
		now.shapes.Merge(c.shapes)
	} else {
		c.seen.drop()
	}
}

func loadCrawl(ctx context.Context, view pebble.Reader, pre []byte) (*loadedCrawl, error) {
	c := &loadedCrawl{seen: newSeen(), shapes: traps.NewPatternCounter()}
	n := 0
	err := table.Scan(view, pre, nil, func(key, value []byte) (bool, error) {
		hash, ok := hashAtEnd(key[len(pre):])
		if !ok {
			return true, nil
		}
		c.seen.add(hash)
		r, err := decodeRecord(value)
		if err != nil {
			return ctx.Err() == nil, nil // it is quarantined when it is its turn
		}
		if sorted, others := traps.SortQuery(r.URL); others && sorted != r.URL {
			c.seen.add(orderMark(sorted))
		}
		if !r.Seed && r.State != Excluded {
			c.shapes.Restore(r.URL, r.Content, r.Parsed > 0)
		}
		n++
		return n%1024 != 0 || ctx.Err() == nil, nil
	})
	if err == nil {
		err = ctx.Err()
	}
	return c, err
}

// startLoader begins to read what the store holds now.
func startLoader(ctx context.Context, cs *crawls) *loader {
	ctx, cancel := context.WithCancel(ctx)
	l := &loader{ctx: ctx, cancel: cancel, loaded: make(chan *loadedCrawl, len(cs.active))}
	wanted := make(map[string]*seen)
	for name, c := range cs.active {
		wanted[name] = c.seen
	}
	l.load(cs, wanted)
	return l
}

// load begins to fill the filters of some crawls with what the store holds now.
func (l *loader) load(cs *crawls, wanted map[string]*seen) {
	if len(wanted) == 0 {
		return
	}
	for _, of := range wanted {
		of.loading = true
	}
	view := cs.store.db.NewSnapshot()
	l.done.Go(func() {
		defer view.Close()
		for name, of := range wanted {
			c, err := loadCrawl(l.ctx, view, table.Name(table.Prefix(cs.partition, kindURL), name))
			if err != nil {
				if l.ctx.Err() == nil {
					cs.log.Error("cannot fill the filter of known URLs, each is looked up on the disk", "crawl", name, "error", err)
				}
				return
			}
			c.name, c.of = name, of
			select {
			case l.loaded <- c:
			case <-l.ctx.Done():
				c.seen.drop()
				return
			}
		}
	})
}

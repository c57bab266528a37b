package state

import (
	"context"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"seine/internal/frontier/table"
	"seine/internal/schedule/traps"
)

// loader fills the filters from the store while the partition already works. Until a filter is
// full, each URL is looked up on disk.
type loader struct {
	ctx    context.Context
	cancel context.CancelFunc
	done   sync.WaitGroup
	loaded chan *loadedCrawl
}

type loadedCrawl struct {
	name   string
	of     *seen // the filter at the start of the load; the crawl may be gone meanwhile
	seen   *seen
	shapes *traps.PatternCounter
}

// startLoader starts to read the store's current contents for all active crawls.
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

// load starts to fill the filters of some crawls with the store's current contents.
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
			c, err := readFilter(l.ctx, view, table.Name(table.Prefix(cs.partition, kindURL), name))
			if err != nil {
				if l.ctx.Err() == nil {
					cs.log.Error("cannot fill the filter of known URLs; looking each up on disk", "crawl", name, "error", err)
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

// stop cancels loading and waits for it to end.
func (l *loader) stop() {
	l.cancel()
	l.done.Wait()
}

// collect applies the filters that have been loaded.
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

func readFilter(ctx context.Context, view pebble.Reader, pre []byte) (*loadedCrawl, error) {
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
			return ctx.Err() == nil, nil // it is quarantined when it is loaded
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

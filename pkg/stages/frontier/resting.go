package frontier

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"seine/internal/jsontext"
	"seine/internal/traps"
	"seine/internal/weburl"
	"seine/pkg/messages"
)

// resting is all that is in memory of a crawl in which nothing is to happen by
// itself: it has ended, and nobody has fed it since. Its counters, the filter of its
// URLs, its rules and all else are made again when it goes on.
type resting struct {
	rev   uint64 // of the spec that its URLs were judged by
	since uint64 // crawlState.Since
}

// idleTime is how long nothing must have happened in a crawl before it is let go.
const idleTime = int64(time.Minute)

// buildPrint tells apart the builds that judge URLs by the same spec otherwise.
var buildPrint = sync.OnceValue(func() uint64 {
	var none weburl.NormalizeOptions
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %d %d", weburl.Version, none.Fingerprint(), layoutRoots)
	return h.Sum64()
})

// judgedBy notes by which spec, of which build, a crawl's URLs are judged.
func (c *crawl) judgedBy(r *rules) {
	c.Rev, c.Build, c.Scheduled, c.dirty = r.Rev, buildPrint(), r.Schedule != "", true
}

// ended reports whether nothing is to happen in a crawl by itself, as far as its
// stored state tells.
func (c *crawlState) ended() bool {
	return c.Started != 0 && c.Open() == 0 && c.Planned == 0 && c.Review == nil && c.Reseed == nil && c.Removing == nil && !c.Scheduled &&
		c.Layout >= layoutRoots && c.Build == buildPrint()
}

// letGo lets go what is in memory of a crawl that rests, and reports whether it did.
// It is called between turns, when all of it is in the store.
func (s *shard) letGo(name string, c *crawl, now int64) bool {
	atRest := !c.known() || c.ended() && c.rules != nil && c.Rev == c.rules.Rev
	if !atRest || c.dirty || c.working() || c.quota.asked || c.quota.idle(c) {
		c.idleFrom = 0
		return false
	}
	if c.idleFrom == 0 || c.changedAt != c.Changed {
		c.idleFrom, c.changedAt = now, c.Changed
	}
	if now-c.idleFrom < idleTime {
		return false
	}
	if c.known() {
		s.resting[name] = resting{c.Rev, c.Since}
	}
	c.seen.drop()
	delete(s.crawls, name)
	return true
}

// awaken makes again what is in memory of a crawl that rests. The filter of its URLs is
// filled while it already goes on.
func (s *shard) awaken(name string) *crawl {
	delete(s.resting, name)
	c := newCrawl(name)
	s.crawls[name] = c
	state, err := s.readCrawl(name)
	if err != nil {
		s.tx.keep(err) // the turn fails, and with it the partition
		return c
	}
	c.begin(name, state)
	s.loader.load(s, map[string]*seen{name: c.seen})
	return c
}

// newCrawl returns what is known of a crawl of which nothing is known.
func newCrawl(name string) *crawl {
	return &crawl{
		seen: newSeen(), shapes: traps.NewShapes(), roots: make(map[root]bool), marks: make(map[messages.URLHash]bool),
		salt: saltOf(name, 0, 0),
	}
}

// begin goes on with a stored state.
func (c *crawl) begin(name string, state crawlState) {
	c.crawlState = state
	c.salt, c.salted = saltOf(name, c.Since, 0), 0
	if c.Started > 0 {
		c.unpark = true // whether it must be parked is found out again
		c.opening = true
		c.convert()
	}
}

// readCrawl reads the state of a crawl.
func (s *shard) readCrawl(name string) (state crawlState, err error) {
	value, closer, err := s.store.db.Get(append(prefix(s.partition, kindCounters), name...))
	if errors.Is(err, pebble.ErrNotFound) {
		return state, nil
	}
	if err == nil {
		err = jsontext.Unmarshal(value, &state)
		_ = closer.Close()
	}
	if err != nil {
		return state, fmt.Errorf("read counters of crawl %s: %w", name, err)
	}
	return state, nil
}

// stateOf returns the state of a crawl that may rest, without waking it.
func (s *shard) stateOf(name string) (crawlState, error) {
	if c := s.crawls[name]; c != nil {
		return c.crawlState, nil
	}
	if _, ok := s.resting[name]; ok {
		return s.readCrawl(name)
	}
	return crawlState{}, nil
}

// wakeChanged wakes the crawls whose spec has changed while they rested, or that were
// deleted.
func (s *shard) wakeChanged() {
	for name, r := range s.resting {
		rev, known := s.specs.revision(name)
		d := s.specs.deletion(name)
		if known && rev != r.rev || d != nil && d.Rev > r.since {
			s.awaken(name)
		}
	}
}

// startLoader begins to read what the store holds now.
func startLoader(ctx context.Context, s *shard) *loader {
	ctx, cancel := context.WithCancel(ctx)
	l := &loader{ctx: ctx, cancel: cancel, loaded: make(chan *loadedCrawl, len(s.crawls))}
	wanted := make(map[string]*seen)
	for name, c := range s.crawls {
		wanted[name] = c.seen
	}
	l.load(s, wanted)
	return l
}

// load begins to fill the filters of some crawls with what the store holds now.
func (l *loader) load(s *shard, wanted map[string]*seen) {
	if len(wanted) == 0 {
		return
	}
	for _, of := range wanted {
		of.loading = true
	}
	view := s.store.db.NewSnapshot()
	l.done.Go(func() {
		defer view.Close()
		for name, of := range wanted {
			c, err := loadCrawl(l.ctx, view, named(prefix(s.partition, kindURL), name))
			if err != nil {
				if l.ctx.Err() == nil {
					s.log.Error("cannot fill the filter of known URLs, each is looked up on the disk", "crawl", name, "error", err)
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

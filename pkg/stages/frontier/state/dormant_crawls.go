package state

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"sync"
	"time"

	"seine/internal/base/weburl"
	"seine/internal/schedule/traps"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
	"seine/pkg/stages/frontier/table"
)

// A crawl in which nothing is to happen by itself, as it has ended and nobody has fed
// it since, is nowhere but in the store: its counters, the filter of its URLs, its rules
// and all else are read when it continues. So nothing is done for it at a start either:
// kindAwake lists the others, and judged says that those that are not listed need not
// be looked at.

// judged says that each crawl of the partition that is not listed as awake has ended,
// and was judged by the specs as they were known, by a build.
type judged struct {
	Build uint64 `json:"build,omitempty"`
	crawlspec.Progress
}

// maxStale is how many crawls are awake at once for no other reason than that they
// rested and are stale: another build or spec may judge their URLs otherwise, or they
// were deleted. A new build, or a change of many specs, makes many stale at once.
const maxStale = 8

// idleTime is how long nothing must have happened in a crawl before it is let go.
const idleTime = int64(time.Minute)

// buildPrint tells apart the builds that judge URLs by the same spec otherwise.
var buildPrint = sync.OnceValue(func() uint64 {
	var none weburl.NormalizeOptions
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %d", weburl.Version, none.Fingerprint())
	return h.Sum64()
})

// judgedBy notes by which spec, of which build, a crawl's URLs are judged.
func (c *crawl) judgedBy(r *Rules) {
	c.Rev, c.Build, c.Scheduled, c.dirty = r.Rev, buildPrint(), r.startsAgain(), true
	c.scheduledBy(r)
	if c.Started == 0 { // its first visits are none again
		c.Again = r.Again
	}
	if c.Links != r.links {
		if c.Links != 0 {
			c.LinksRev = r.Rev
		}
		c.Links = r.links
	}
}

// scheduledBy notes since when a crawl has the schedule that it has.
func (c *crawl) scheduledBy(r *Rules) {
	text := ""
	if r.Schedule != "" {
		text = r.Schedule + " " + r.TimeZone
	}
	if text != "" && text != c.Schedule && c.Started != 0 { // or it has it from the beginning
		c.ScheduleSince = r.since()
	}
	c.Schedule = text
}

// ended reports whether nothing is to happen in a crawl by itself, as far as its
// stored state tells, and unless it is stale.
func (c *crawlState) ended() bool {
	return c.Started != 0 && c.Pending() == 0 && c.Planned == 0 && c.Review == nil && c.Reseed == nil && c.Removing == nil && !c.Scheduled &&
		!c.Seeding.Due && !c.Opening && !c.Unchanged
}

// stale reports whether another build judged the crawl's URLs.
func (c *crawlState) stale() bool { return c.Build != buildPrint() }

// unloadCrawl lets go what is in memory of a crawl that rests, and reports whether it did.
// It is called between turns, when all of it is in the store.
func (s *Partition) unloadCrawl(name string, c *crawl, now int64) bool {
	atRest := !c.known() && !c.awaitsSeeds() || c.known() && c.ended() && !c.standsStill() && !c.stale() && c.rules != nil && c.Rev == c.rules.Rev && !c.rules.AgainDue(c.Again)
	if !atRest || c.dirty || c.working() || c.quota.asked || c.quota.idle(c) {
		c.idleFrom = 0
		if !c.working() && (!c.ended() || c.standsStill()) {
			s.keepActive(name, c)
		}
		return false
	}
	if c.idleFrom == 0 || c.changedAt != c.Changed {
		c.idleFrom, c.changedAt = now, c.Changed
	}
	if now-c.idleFrom < idleTime && !c.wasStale {
		return false
	}
	c.seen.drop()
	delete(s.crawls, name)
	return true
}

// markStale notes that a crawl at rest is to be woken when it is its turn.
func (s *Partition) markStale(name string) {
	if !s.isStale[name] {
		s.isStale[name] = true
		s.stale = append(s.stale, name)
	}
}

// recheckStale wakes crawls that are stale, a few at a time: each rests again as soon as
// it no longer is. Their filters stay empty, and their URLs are looked up on the disk.
func (s *Partition) recheckStale() error {
	if len(s.stale) == 0 {
		return nil
	}
	awake := 0
	for _, c := range s.crawls {
		if c.wasStale {
			awake++
		}
	}
	for ; awake < maxStale && len(s.stale) > 0; s.stale = s.stale[1:] {
		if name := s.stale[0]; s.isStale[name] { // nobody has woken it meanwhile
			c, err := s.loadCrawlState(name)
			if err != nil {
				return err
			}
			c.wasStale, c.seen.loading = true, true
			awake++
		}
	}
	return nil
}

// keepActive lets a crawl that was woken because it was stale be one like the others:
// something is to happen in it.
func (s *Partition) keepActive(name string, c *crawl) {
	if c.wasStale {
		c.wasStale = false
		s.loader.load(s, map[string]*seen{name: c.seen})
	}
}

// loadCrawlState reads a crawl that rests, but for the filter of its URLs.
func (s *Partition) loadCrawlState(name string) (*crawl, error) {
	delete(s.isStale, name)
	c, err := s.readAwake(name, false)
	s.crawls[name] = c
	s.holdsCrawls = true
	return c, err
}

// readAwake reads a crawl that continues, which must be listed if it has not ended. What
// cannot be read is made again.
func (s *Partition) readAwake(name string, listed bool) (*crawl, error) {
	c := newCrawl(name)
	state, err := s.readCrawl(name)
	switch {
	case errors.Is(err, errCounters):
		err = s.unreadableCounters(name, c, err)
		state = c.crawlState
	case err == nil && !listed && state.known() && !state.ended():
		s.reportRepair(repairIndex, "a crawl has not ended and was forgotten", "crawl", name)
		c.dirty = true
	}
	if err == nil && state.known() {
		c.begin(name, state)
	}
	if listed {
		crawlTable.Stored(s.tx.Turn, name, c)
	}
	return c, err
}

// newCrawl returns what is known of a crawl of which nothing is known.
func newCrawl(name string) *crawl {
	return &crawl{
		seen: newSeen(), shapes: traps.NewPatternCounter(), roots: make(map[root]bool), marks: make(map[messages.URLHash]bool), runs: make(map[int64]*frontierapi.Run),
		salt: saltOf(name, 0, 0),
	}
}

// begin continues with a stored state.
func (c *crawl) begin(name string, state crawlState) {
	c.crawlState = state
	c.salt, c.salted = saltOf(name, c.Since, 0), 0
	if c.Started > 0 {
		c.unpark = true // whether it must be parked is found out again
	}
}

// stateOf returns the state of a crawl that may rest, without waking it unless it
// cannot be read.
func (s *Partition) stateOf(name string) (crawlState, error) {
	if c := s.crawls[name]; c != nil {
		return c.crawlState, nil
	}
	state, err := s.readCrawl(name)
	if errors.Is(err, errCounters) {
		c, err := s.activateCrawl(name)
		return c.crawlState, err
	}
	return state, err
}

// findStale looks which crawls at rest have another spec than when they came to rest,
// or were deleted, of those of which something became known after a generation.
func (s *Partition) findStale(since uint64) error {
	known := s.specs.Known()
	done := s.judged
	if done.Bucket != known.Bucket {
		done.Rev = 0
	}
	for _, news := range s.specs.Changes(since) {
		if news.Rev <= done.Rev || s.crawls[news.Crawl] != nil {
			continue
		}
		stale, err := s.hasOtherSpec(news.Crawl)
		if err != nil {
			return err
		}
		if stale {
			s.markStale(news.Crawl)
		}
	}
	s.lookedAt = known
	return nil
}

// hasOtherSpec reports whether a crawl at rest was judged by another spec than that of
// now, or was deleted; or is one that its spec begins, as that lists seeds.
func (s *Partition) hasOtherSpec(name string) (bool, error) {
	state, err := s.stateOf(name)
	if err != nil {
		return false, err
	}
	if !state.known() {
		return s.specs.Seeded(name), nil
	}
	rev, known := s.specs.Revision(name)
	d := s.specs.Deletion(name)
	return known && rev != state.Rev || d != nil && d.Rev > state.Since, nil
}

// judgeDone notes, with the turn under way, that no crawl at rest is stale, if so.
func (s *Partition) judgeDone() {
	if len(s.stale) > 0 || s.lookedAt.Bucket == 0 {
		return
	}
	for _, c := range s.crawls {
		if c.awaitsSeeds() { // nothing is stored of it
			return
		}
	}
	now := judged{buildPrint(), s.lookedAt}
	if s.judged.Build == now.Build && s.judged.Bucket == now.Bucket {
		now.Rev = max(now.Rev, s.judged.Rev) // a process that starts learns of the specs one by one
	}
	s.judged = now
}

// startLoader begins to read what the store holds now.
func startLoader(ctx context.Context, s *Partition) *loader {
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
func (l *loader) load(s *Partition, wanted map[string]*seen) {
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
			c, err := loadCrawl(l.ctx, view, table.Name(table.Prefix(s.partition, kindURL), name))
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

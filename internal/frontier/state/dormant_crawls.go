package state

import (
	"fmt"
	"hash/fnv"
	"sync"
	"time"

	"seine/internal/base/weburl"
	"seine/pkg/crawlspec"
)

// A crawl in which nothing happens by itself, as it has ended and received no seeds
// since, is only in the store: its counters, the filter of its URLs, its rules
// and the rest are read when it continues. So it costs nothing at a start either:
// kindAwake lists the others, and specProgress says that those that are not listed need not
// be looked at.

// specProgress says that each crawl of the partition that is not listed as awake has ended,
// and was judged by the specs as they were known, by a build.
type specProgress struct {
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

// ended reports whether nothing is to happen in a crawl by itself, as far as its
// stored state tells, and unless it is stale.
func (c *crawlState) ended() bool {
	return c.Started != 0 && c.Pending() == 0 && c.Planned == 0 && c.Review == nil && c.Reseed == nil && !c.Scheduled &&
		!c.Seeding.Due && !c.Opening && !c.Unchanged
}

// stale reports whether another build judged the crawl's URLs.
func (c *crawlState) stale() bool { return c.Build != buildPrint() }

// unload lets go what is in memory of a crawl that rests, and reports whether it did.
// It is called between turns, when all of it is in the store.
func (cs *crawls) unload(name string, c *crawl, now int64) bool {
	atRest := !c.known() && !c.awaitsSeeds() || c.known() && c.ended() && !c.stalled() && !c.stale() && c.rules != nil && c.Rev == c.rules.Rev && !c.rules.AgainDue(c.Again)
	if !atRest || c.dirty || c.working() || c.quota.asked || c.quota.idle(c) {
		c.idleFrom = 0
		if !atRest && !c.working() && (!c.ended() || c.stalled()) {
			cs.keepActive(name, c)
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
	delete(cs.active, name)
	return true
}

// recheckStale wakes crawls that are stale, a few at a time: each rests again as soon as
// it no longer is. Their filters stay empty, and their URLs are looked up on the disk.
func (cs *crawls) recheckStale() error {
	if len(cs.stale) == 0 {
		return nil
	}
	awake := 0
	for _, c := range cs.active {
		if c.wasStale {
			awake++
		}
	}
	for name := range cs.stale {
		if awake++; awake > maxStale {
			break
		}
		c, err := cs.load(name)
		if err != nil {
			return err
		}
		c.wasStale, c.seen.loading = true, true
	}
	return nil
}

// keepActive lets a crawl that was woken because it was stale be one like the others:
// something is to happen in it.
func (cs *crawls) keepActive(name string, c *crawl) {
	if c.wasStale {
		c.wasStale = false
		cs.loader.load(cs, map[string]*seen{name: c.seen})
	}
}

// findStale looks which crawls at rest have another spec than when they came to rest,
// or were deleted, of those of which something became known after a generation.
func (cs *crawls) findStale(since uint64) error {
	known := cs.specs.Known()
	done := cs.progress
	if done.Bucket != known.Bucket {
		done.Rev = 0
	}
	for _, news := range cs.specs.Changes(since) {
		if news.Rev <= done.Rev || cs.active[news.Crawl] != nil {
			continue
		}
		stale, err := cs.hasOtherSpec(news.Crawl)
		if err != nil {
			return err
		}
		if stale {
			cs.stale[news.Crawl] = true
		}
	}
	cs.scannedTo = known
	return nil
}

// hasOtherSpec reports whether a crawl at rest was judged by another spec than that of
// now, or was deleted; or is one that its spec begins, as that lists seeds.
func (cs *crawls) hasOtherSpec(name string) (bool, error) {
	state, err := cs.stateOf(name)
	if err != nil {
		return false, err
	}
	if !state.known() {
		return cs.specs.Seeded(name), nil
	}
	rev, known := cs.specs.Revision(name) // that of a deletion, if there was no spec since
	return known && rev != state.Rev, nil
}

// noteProgress stores, with the current turn, that no dormant crawl is stale, if so.
func (cs *crawls) noteProgress() {
	if len(cs.stale) > 0 || cs.scannedTo.Bucket == 0 {
		return
	}
	for _, c := range cs.active {
		if c.awaitsSeeds() { // nothing is stored of it
			return
		}
	}
	now := specProgress{buildPrint(), cs.scannedTo}
	if cs.progress.Build == now.Build && cs.progress.Bucket == now.Bucket {
		now.Rev = max(now.Rev, cs.progress.Rev) // a process that starts learns of the specs one by one
	}
	cs.progress = now
}

package state

import (
	"fmt"
	"hash/fnv"
	"sync"
	"time"

	"seine/internal/base/weburl"
	"seine/pkg/crawlspec"
)

// A crawl that has ended and has received no seeds since is dormant: it exists only in the store.
// Its counters, its rules, the filter of its URLs and the rest are read when it continues, so it
// costs nothing at a start. kindAwake lists the other crawls, and specProgress says that unlisted
// crawls need no check.

// specProgress says that each crawl of the partition that is not listed as awake has ended, and was
// evaluated by the specs known at Progress and by a build.
type specProgress struct {
	Build uint64 `json:"build,omitempty"`
	crawlspec.Progress
}

// maxStale limits how many dormant crawls are loaded at once only because they are stale. A crawl
// is stale if another build or spec may evaluate its URLs differently, or if it was deleted. A new
// build, or a change of many specs, makes many stale at once.
const maxStale = 8

// idleTime is how long a crawl must be idle before it is unloaded.
const idleTime = int64(time.Minute)

// buildPrint identifies builds that evaluate URLs alike for the same spec.
var buildPrint = sync.OnceValue(func() uint64 {
	var none weburl.NormalizeOptions
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %d", weburl.Version, none.Fingerprint())
	return h.Sum64()
})

// ended reports whether the stored state leaves nothing to do in a crawl, unless it is stale.
func (c *crawlState) ended() bool {
	return c.Started != 0 && c.Pending() == 0 && c.Planned == 0 && c.Review == nil && c.Reseed == nil && !c.Scheduled &&
		!c.Seeding.Due && !c.Opening && !c.Unchanged
}

// stale reports whether another build evaluated the crawl's URLs.
func (c *crawlState) stale() bool { return c.Build != buildPrint() }

// unload drops a dormant crawl from memory, and reports whether it did. It is called between turns,
// when all state is in the store.
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

// recheckStale loads stale crawls, at most maxStale at a time. Each is unloaded as soon as it is no
// longer stale. Their filters stay empty, so their URLs are looked up on disk.
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

// keepActive turns a crawl that was loaded only because it was stale into a normal active crawl.
func (cs *crawls) keepActive(name string, c *crawl) {
	if c.wasStale {
		c.wasStale = false
		cs.loader.load(cs, map[string]*seen{name: c.seen})
	}
}

// findStale finds dormant crawls whose spec changed or that were deleted, among the specs that
// changed after a generation.
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

// hasOtherSpec reports whether a dormant crawl was evaluated by another spec than the current one,
// or was deleted. It also returns true for an unknown crawl whose spec lists seeds.
func (cs *crawls) hasOtherSpec(name string) (bool, error) {
	state, err := cs.stateOf(name)
	if err != nil {
		return false, err
	}
	if !state.known() {
		return cs.specs.Seeded(name), nil
	}
	rev, known := cs.specs.Revision(name) // that of a deletion if no spec followed
	return known && rev != state.Rev, nil
}

// noteProgress records, with the current turn, that no dormant crawl is stale, if that is so.
func (cs *crawls) noteProgress() {
	if len(cs.stale) > 0 || cs.scannedTo.Bucket == 0 {
		return
	}
	for _, c := range cs.active {
		if c.awaitsSeeds() { // nothing of it is stored
			return
		}
	}
	now := specProgress{buildPrint(), cs.scannedTo}
	if cs.progress.Build == now.Build && cs.progress.Bucket == now.Bucket {
		now.Rev = max(now.Rev, cs.progress.Rev) // a process that starts learns the specs one by one
	}
	cs.progress = now
}

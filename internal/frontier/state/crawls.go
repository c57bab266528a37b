package state

import (
	"errors"
	"fmt"
	"time"

	"seine/internal/frontier/table"
	"seine/pkg/crawlspec"
)

// crawls holds the crawls that are in memory: all that have not ended.
type crawls struct {
	*base
	specs          SpecSource
	specsGen       uint64 // incremented when a spec has changed
	active         map[string]*crawl
	removals       map[string]*removal // deleted crawls whose removal is in progress, by name
	lastRemoval    uint64              // when the last removal began
	holdsCrawls    bool                // the store has or had a crawl
	stale          map[string]bool     // ended crawls to be loaded again: see recheckStale
	progress       specProgress        // to be stored with the next mark
	storedProgress specProgress        // as in the store
	scannedTo      crawlspec.Progress  // up to where changed specs were scanned: see findStale
	loader         *loader
}

func newCrawls(b *base, specs SpecSource) *crawls {
	return &crawls{base: b, specs: specs, active: make(map[string]*crawl), removals: make(map[string]*removal), stale: make(map[string]bool)}
}

// activate returns the state of a crawl, which may be empty. It loads a dormant crawl.
func (cs *crawls) activate(name string) (*crawl, error) {
	if c := cs.active[name]; c != nil {
		return c, nil
	}
	c, err := cs.load(name)
	if err == nil && c.known() && cs.loader != nil { // the loader begins with all active crawls
		cs.loader.load(cs, map[string]*seen{name: c.seen})
	}
	return c, err
}

// get is activate for a crawl whose rules were read in this turn, so that it is active.
func (cs *crawls) get(name string) *crawl {
	c, err := cs.activate(name)
	cs.tx.Fail(err)
	return c
}

// stateOf returns the state of a crawl without activating it, unless its counters are unreadable.
func (cs *crawls) stateOf(name string) (crawlState, error) {
	if c := cs.active[name]; c != nil {
		return c.crawlState, nil
	}
	state, err := cs.read(name)
	if errors.Is(err, errCounters) {
		c, err := cs.activate(name)
		return c.crawlState, err
	}
	return state, err
}

// read reads the stored state of a crawl.
func (cs *crawls) read(name string) (state crawlState, err error) {
	c, found, err := crawlTable.Load(cs.tx.Turn, name)
	if err != nil {
		return state, fmt.Errorf("read counters of crawl %s: %w", name, err)
	}
	if found {
		state = c.crawlState
	}
	return state, nil
}

// names returns the names of all crawls in the store or in the current turn.
func (cs *crawls) names() (names []string, err error) {
	pre := table.Prefix(cs.partition, kindCounters)
	err = cs.store.scan(pre, nil, func(key, _ []byte) (bool, error) {
		if name := string(key[len(pre):]); cs.active[name] == nil {
			names = append(names, name)
		}
		return true, nil
	})
	if err != nil {
		return nil, fmt.Errorf("read names of crawls: %w", err)
	}
	for name := range cs.active {
		names = append(names, name)
	}
	return names, nil
}

// rules returns the rules of a crawl at revision rev or later. They stay the same for a whole turn,
// unless a message has a later revision.
func (cs *crawls) rules(name string, rev uint64) (*Rules, error) {
	c, err := cs.activate(name)
	if err != nil {
		return nil, err
	}
	if c.rules == nil || c.rules.Stalled || c.rulesFor != cs.specsGen { // the crawl's state may refer to a spec that was lost
		rev = max(rev, c.Rev)
	}
	if c.rules != nil && c.rulesFor == cs.specsGen && c.rules.Rev >= rev {
		return c.rules, nil
	}
	r, err := cs.specs.Rules(name, rev)
	if err != nil {
		return nil, err
	}
	if c.rules != r {
		c.nextRun = 0 // the schedule may have changed
	}
	c.rules, c.rulesFor = r, cs.specsGen
	return r, nil
}

// followSpecs makes every active crawl follow its current spec.
func (cs *crawls) followSpecs() error {
	for name, c := range cs.active {
		r, err := cs.rules(name, 0)
		if err != nil {
			return err
		}
		c.follow(r)
	}
	return nil
}

// hasNews reports whether specs have changed since the last turn.
func (cs *crawls) hasNews() bool { return cs.specs.Generation() != cs.specsGen }

// admits returns the rules for a message that was sent under a revision of the crawl's spec. It
// returns nil if the message belongs to a deleted crawl.
func (cs *crawls) admits(name string, rev uint64) (*Rules, error) {
	rules, err := cs.rules(name, rev)
	if err != nil || rules.Deleted(rev) {
		return nil, err
	}
	c := cs.get(name)
	c.follow(rules)
	cs.keepActive(name, c)
	if !c.known() && c.Since < rules.Since() {
		c.Since, c.Run = rules.Since(), rules.firstRun()
		c.salt, c.salted = saltOf(name, c.Since, c.Run), c.Run
	}
	return rules, nil
}

// startRemoval notes that the removal of a deleted crawl is in progress.
func (cs *crawls) startRemoval(name string, at *removal) {
	cs.removals[name] = at
	cs.lastRemoval = max(cs.lastRemoval, at.Began)
}

// isRemoved reports whether a host or domain refers to a deleted crawl, given the last removal
// before the host was written.
func (cs *crawls) isRemoved(name string, written uint64) bool {
	at := cs.removals[name]
	return at != nil && written < at.Began
}

// timeout returns the maximum duration of a request of a crawl.
func (cs *crawls) timeout(crawl string) time.Duration {
	if c := cs.active[crawl]; c != nil && c.rules != nil {
		return time.Duration(c.rules.Largest().Timeout)
	}
	return time.Duration(crawlspec.DefaultTimeout)
}

// settling reports whether step-by-step work for changed specs, audits or removals is left in any
// crawl.
func (cs *crawls) settling() bool {
	if cs.hasNews() || cs.suspectAll || len(cs.suspects)+len(cs.stale)+len(cs.removals) > 0 {
		return true
	}
	for _, c := range cs.active {
		if c.working() {
			return true
		}
	}
	return false
}

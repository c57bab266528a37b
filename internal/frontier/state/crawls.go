package state

import (
	"errors"
	"fmt"
	"time"

	"seine/internal/frontier/table"
	"seine/pkg/crawlspec"
)

// crawls are those of which something is in memory: all that continue.
type crawls struct {
	*base
	specs          SpecSource
	specsGen       uint64 // grows when a spec has changed
	active         map[string]*crawl
	removals       map[string]*removal // deleted crawls that are being forgotten, by name
	lastRemoval    uint64              // when the last of them began
	holdsCrawls    bool                // there is, or was, a crawl
	stale          map[string]bool     // crawls that have ended and are to be woken: see recheckStale
	progress       specProgress        // to be stored with the next mark
	storedProgress specProgress        // as the store has it
	scannedTo      crawlspec.Progress  // up to where changed specs were scanned: see findStale
	loader         *loader
}

func newCrawls(b *base, specs SpecSource) *crawls {
	return &crawls{base: b, specs: specs, active: make(map[string]*crawl), removals: make(map[string]*removal), stale: make(map[string]bool)}
}

// activate returns what the partition knows of a crawl, perhaps nothing yet. It reads a crawl that rests.
func (cs *crawls) activate(name string) (*crawl, error) {
	if c := cs.active[name]; c != nil {
		return c, nil
	}
	c, err := cs.load(name)
	if err == nil && c.known() && cs.loader != nil { // which begins with all that are awake
		cs.loader.load(cs, map[string]*seen{name: c.seen})
	}
	return c, err
}

// get is activate for a crawl that is awake, since its rules were read in this turn.
func (cs *crawls) get(name string) *crawl {
	c, err := cs.activate(name)
	cs.tx.Fail(err)
	return c
}

// stateOf returns the state of a crawl that may rest, without waking it unless it
// cannot be read.
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

// read reads the state of a crawl.
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

// names are those of all crawls in the store or in the current turn.
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

// rules returns the spec of a crawl, at least of revision rev; the same for a
// whole turn, unless a message is ahead of it.
func (cs *crawls) rules(name string, rev uint64) (*Rules, error) {
	c, err := cs.activate(name)
	if err != nil {
		return nil, err
	}
	if c.rules == nil || c.rules.Stalled || c.rulesFor != cs.specsGen { // the crawl may be known by a spec that is lost
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
		c.nextRun = 0 // it may have another schedule
	}
	c.rules, c.rulesFor = r, cs.specsGen
	return r, nil
}

// followSpecs has every crawl that is awake follow its spec as it is now.
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

// admits returns the rules for a message about a crawl that was made under a
// revision of its spec, nil if the message is of a crawl that was deleted.
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

// startRemoval notes that a deleted crawl is being forgotten.
func (cs *crawls) startRemoval(name string, at *removal) {
	cs.removals[name] = at
	cs.lastRemoval = max(cs.lastRemoval, at.Began)
}

// isRemoved reports whether a host or domain names a crawl that was deleted, given the last removal before it was written.
func (cs *crawls) isRemoved(name string, written uint64) bool {
	at := cs.removals[name]
	return at != nil && written < at.Began
}

// timeout is how long a request of a crawl may take.
func (cs *crawls) timeout(crawl string) time.Duration {
	if c := cs.active[crawl]; c != nil && c.rules != nil {
		return time.Duration(c.rules.Largest().Timeout)
	}
	return time.Duration(crawlspec.DefaultTimeout)
}

// settling reports whether specs are still to be obeyed, step by step, in some crawl.
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

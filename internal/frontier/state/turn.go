package state

import (
	"maps"
	"math"
	"slices"
)

// RunTimers does the work that is due without a message: filters that have been filled, changed
// specs, scheduled runs, retries. Call it first in a turn, while the store shows the complete
// state.
func (p *Partition) RunTimers(now int64) error {
	p.crawls.loader.collect(p.crawls)
	if p.crawls.hasNews() {
		before := p.crawls.specsGen
		p.crawls.specsGen = p.crawls.specs.Generation()
		if err := p.crawls.findStale(before); err != nil {
			return err
		}
	}
	if err := p.crawls.recheckStale(); err != nil {
		return err
	}
	if err := p.Removals.beginAll(now); err != nil {
		return err
	}
	if err := p.crawls.followSpecs(); err != nil {
		return err
	}
	if err := p.visits.requeueDue(now); err != nil { // before any retry is planned that the store does not show yet
		return err
	}
	if err := p.schedule.forgetHosts(now); err != nil {
		return err
	}
	for name, c := range p.crawls.active {
		rules, err := p.crawls.rules(name, 0)
		if err != nil {
			return err
		}
		if p.crawls.unload(name, c, now) {
			continue
		}
		if err := p.tendCrawl(name, c, rules, now); err != nil {
			return err
		}
	}
	p.crawls.noteProgress()
	return p.Removals.proceed()
}

func (p *Partition) tendCrawl(name string, c *crawl, rules *Rules, now int64) error {
	if !c.known() {
		if c.mustFeedSeeds(rules) {
			p.Seeds.feedSeeds(name, c, rules)
		}
		return nil
	}
	if rules.Stalled {
		return nil
	}
	if err := p.reviews.startRun(name, c, rules, now); err != nil {
		return err
	}
	if c.unpark {
		done, err := p.schedule.unpark(name, now)
		if err != nil {
			return err
		}
		c.unpark = !done
	}
	if c.Opening {
		if err := p.discovery.admitOpened(name, c, rules, now); err != nil {
			return err
		}
	}
	if c.Unchanged {
		if err := p.discovery.findAgain(name, c, rules, now); err != nil {
			return err
		}
	}
	if c.Reseed != nil {
		if err := p.reviews.reseed(name, c, rules, now); err != nil {
			return err
		}
	}
	if c.mustFeedSeeds(rules) {
		p.Seeds.feedSeeds(name, c, rules)
	}
	if p.stuck(c, rules) {
		p.audit(name)
	}
	if c.Review != nil {
		return p.reviews.reevaluate(name, c, rules, now)
	}
	return nil
}

// TimersPending reports whether RunTimers has more to do immediately.
func (p *Partition) TimersPending() bool {
	return p.crawls.settling() || p.schedule.forgets(p.time.now())
}

// NextDue returns when the next event without a message is due.
func (p *Partition) NextDue() int64 {
	t := int64(math.MaxInt64)
	for _, c := range p.crawls.active {
		if c.nextRun > 0 {
			t = min(t, p.time.at(c.nextRun))
		}
	}
	return min(t, p.schedule.nextDue, p.urls.nextRetry, p.Requests.nextInFlightDeadline)
}

// Commit ends a turn: its changes become durable as one.
func (p *Partition) Commit(now int64) error {
	if err := p.schedule.commitHosts(now); err != nil {
		return err
	}
	if err := p.crawls.beginAudits(); err != nil {
		return err
	}
	p.commitCrawls()
	for _, id := range slices.SortedFunc(maps.Keys(p.tx.changed), urlID.compare) { // in key order, which is fastest
		r := p.tx.changed[id]
		urlTable.Put(p.tx.Turn, id, r)
		if r.awaitsTime() {
			p.urls.nextRetry = min(p.urls.nextRetry, r.Due)
		}
	}
	p.storeTime()
	if err := p.tx.commit(); err != nil {
		return err
	}
	for _, w := range p.queues.changedInTurn {
		w.changes = nil
	}
	p.queues.changedInTurn = p.queues.changedInTurn[:0]
	for _, c := range p.crawls.active {
		clear(c.marks)
		if len(c.roots) > maxRoots {
			clear(c.roots)
		}
		if len(c.barred) > maxRoots {
			clear(c.barred)
		}
	}
	p.queues.evictWindows()
	return nil
}

// commitCrawls stores the crawls that changed.
func (p *Partition) commitCrawls() {
	for name, c := range p.crawls.active {
		if !c.dirty {
			continue
		}
		c.dirty = false
		if !c.known() { // its spec has all that is known of a crawl without URLs
			continue
		}
		crawlTable.Put(p.tx.Turn, name, c)
		p.runs.save(name, c)
	}
}

package state

import "math"

// RunTimers does what is due without a message: filters that have been filled,
// specs that changed, runs that start, retries. It comes first in a turn, while
// the store shows all there is.
func (s *Partition) RunTimers(now int64) error {
	s.loader.collect(s)
	if s.hasNews() {
		before := s.specsGen
		s.specsGen = s.specs.Generation()
		if err := s.findStale(before); err != nil {
			return err
		}
	}
	if err := s.recheckStale(); err != nil {
		return err
	}
	if err := s.followSpecs(); err != nil {
		return err
	}
	if err := s.requeueDue(now); err != nil { // before any is planned that the store does not show yet
		return err
	}
	if err := s.forgetHosts(now); err != nil {
		return err
	}
	for name, c := range s.crawls {
		rules, err := s.rules(name, 0)
		if err != nil {
			return err
		}
		if s.unloadCrawl(name, c, now) {
			continue
		}
		if err := s.tendCrawl(name, c, rules, now); err != nil {
			return err
		}
	}
	s.judgeDone()
	return nil
}

func (s *Partition) tendCrawl(name string, c *crawl, rules *Rules, now int64) error {
	if !c.known() {
		if c.mustFeedSeeds(rules) {
			s.feedSeeds(name, c, rules)
		}
		return nil
	}
	if c.pendingDeletion(rules) {
		return s.remove(name, c, rules, now)
	}
	if rules.Still {
		return nil
	}
	if err := s.startRun(name, c, rules, now); err != nil {
		return err
	}
	if c.unpark {
		done, err := s.unpark(name, now)
		if err != nil {
			return err
		}
		c.unpark = !done
	}
	if c.Opening {
		if err := s.admitOpened(name, c, rules, now); err != nil {
			return err
		}
	}
	if c.Unchanged {
		if err := s.findAgain(name, c, rules, now); err != nil {
			return err
		}
	}
	if c.Reseed != nil {
		if err := s.reseed(name, c, rules, now); err != nil {
			return err
		}
	}
	if c.mustFeedSeeds(rules) {
		s.feedSeeds(name, c, rules)
	}
	if s.stuck(c, rules) {
		s.audit(name)
	}
	if c.Review != nil {
		return s.reevaluate(name, c, rules, now)
	}
	return nil
}

// TimersPending reports whether RunTimers has more to do at once.
func (s *Partition) TimersPending() bool { return s.settling() || s.forgets(s.time.now()) }

// settling reports whether specs and messages that have come are still to be obeyed,
// step by step, in some crawl.
func (s *Partition) settling() bool {
	if s.hasNews() || s.suspectAll || len(s.suspects)+len(s.stale)+len(s.postponed) > 0 {
		return true
	}
	for _, c := range s.crawls {
		if c.working() {
			return true
		}
	}
	return false
}

// NextDue returns when something is due next without a message.
func (s *Partition) NextDue() int64 {
	t := int64(math.MaxInt64)
	for _, c := range s.crawls {
		if c.nextRun > 0 {
			t = min(t, s.time.at(c.nextRun))
		}
	}
	return min(t, s.nextDue, s.nextRetry, s.nextInFlightDeadline)
}

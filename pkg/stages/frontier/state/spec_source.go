package state

import (
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// SpecSource gives a partition the specs of the crawls.
type SpecSource interface {
	// Rules returns the newest spec of a crawl, at least of revision rev. The rules of a lost spec stall the crawl.
	Rules(crawl string, rev uint64) (*Rules, error)
	// Generation grows with every change of any of them.
	Generation() uint64
	// Changes returns what has become known after a generation, of each crawl at least
	// the last change.
	Changes(since uint64) []crawlspec.Change
	// Known says up to where all is known, and in what Changes returns after the call.
	Known() crawlspec.Progress
	// Revision returns the revision of a crawl's spec, and whether that is known.
	Revision(crawl string) (rev uint64, known bool)
	// Seeded reports whether the spec of a crawl lists seeds, as far as it is known.
	Seeded(crawl string) bool
	// Deletion returns the last deletion of a crawl as far as it is known, nil if
	// there is none.
	Deletion(crawl string) *messages.Deletion
}

// rules returns the spec of a crawl, at least of revision rev; the same for a
// whole turn, unless a message is ahead of it.
func (s *Partition) rules(name string, rev uint64) (*Rules, error) {
	c, err := s.activateCrawl(name)
	if err != nil {
		return nil, err
	}
	if c.rules == nil || c.rules.Still || c.rulesFor != s.specsGen { // the crawl may be known by a spec that is lost
		rev = max(rev, c.Rev)
	}
	if c.rules != nil && c.rulesFor == s.specsGen && c.rules.Rev >= rev {
		return c.rules, nil
	}
	r, err := s.specs.Rules(name, rev)
	if err != nil {
		return nil, err
	}
	if c.rules != r {
		c.nextRun = 0 // it may have another schedule
	}
	c.rules, c.rulesFor = r, s.specsGen
	return r, nil
}

// followSpecs has every crawl that is awake follow its spec as it is now.
func (s *Partition) followSpecs() error {
	for name, c := range s.crawls {
		r, err := s.rules(name, 0)
		if err != nil {
			return err
		}
		c.follow(r)
	}
	return nil
}

// follow notes by which rules the URLs of a crawl are judged from now on, before any is. If the rules differ from those
// before, all URLs are judged again, step by step, and what was parked may go: see reevaluate. Were it noted later, a change
// back would leave as it is what was judged meanwhile.
func (c *crawl) follow(r *Rules) {
	switch {
	case r.Still: // what is decided meanwhile is judged again by the spec that comes
		c.dirty, c.Print = c.dirty || c.Print != r.fingerprint, r.fingerprint
		return
	case c.Started == 0 || c.pendingDeletion(r): // it has no URLs to judge
		return
	}
	if c.Rev != r.Rev || c.Build != buildPrint() {
		c.judgedBy(r)
	}
	if c.Print != r.fingerprint {
		c.Print, c.dirty, c.Review, c.unpark, c.quota = r.fingerprint, true, c.Review.anew(), true, quota{asked: c.quota.asked}
	}
}

// hasNews reports whether specs have changed since the last turn.
func (s *Partition) hasNews() bool { return s.specs.Generation() != s.specsGen }

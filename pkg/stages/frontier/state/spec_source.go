package state

import (
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// SpecSource gives a partition the specs of the crawls.
type SpecSource interface {
	// Rules returns the newest spec of a crawl, at least of revision rev; of one that is lost rules that stand still.
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
// whole turn, unless a message is ahead of it. If the rules are others than
// before, the URLs of the crawl are judged again, step by step, and what was
// parked may go: see review. This is noted with the first URL that the new
// rules judge, or a change back would leave that one as it is.
func (s *Partition) rules(name string, rev uint64) (*Rules, error) {
	c := s.crawl(name)
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
	if r.Still { // what is decided meanwhile is judged again by the spec that comes
		c.dirty, c.Print = c.dirty || c.Print != r.fingerprint, r.fingerprint
		return r, nil
	}
	if c.Started != 0 && !c.doomed(r) && (c.Rev != r.Rev || c.Build != buildPrint()) {
		c.judgedBy(r)
	}
	if c.Started != 0 && !c.doomed(r) && c.Print != r.fingerprint { // it has URLs, judged by other rules
		c.Print, c.dirty, c.Review, c.unpark, c.quota = r.fingerprint, true, c.Review.anew(), true, quota{asked: c.quota.asked}
	}
	return r, nil
}

// hasNews reports whether specs have changed since the last turn.
func (s *Partition) hasNews() bool { return s.specs.Generation() != s.specsGen }

package state

import (
	"seine/internal/schedule/traps"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
	"seine/pkg/stages/frontier/table"
)

// crawl is what a partition knows of one crawl.
type crawl struct {
	table.Row
	crawlState
	seen    *seen
	salt    uint64                    // of the run under way, in Partition.recent
	salted  int64                     // the run that it is of
	marks   map[messages.URLHash]bool // of paramOrderSeen in this turn
	shapes  *traps.PatternCounter
	roots   map[root]bool // cache: whether seeds opened a host or domain
	quota   quota
	audited int64 // when an audit began
	unpark  bool  // what is parked is to be put back
	dirty   bool
	// unparsed are the visits of the last Partition.CountParsing that are still parsed. The pages of those that were parsed before
	// lostBefore, in the partition's time, are lost.
	unparsed, lostBefore int64
	runs                 map[int64]*frontierapi.Run // whose figures change in this turn: see figuresOf

	rules    *Rules
	rulesFor uint64 // Partition.specsGen that rules were read under
	wasStale bool   // it was woken for no other reason: see recheckStale
	// idleFrom is since when nothing has happened: the last thing then was changedAt.
	idleFrom, changedAt int64
	seedsSent           sentSeeds
	nextRun             int64 // when the schedule starts the crawl again, Unix ns; 0 if it does not
}

// crawlState is the stored part of it.
type crawlState struct {
	frontierapi.Counters
	Examples frontierapi.Examples `json:"examples,omitzero"`
	Print    uint64               `json:"print,omitempty"` // of the rules that the URLs were judged by last
	// LatestRun is the latest that URLs were found by, in any partition.
	LatestRun int64 `json:"latest_run,omitempty"`
	// Rev is the revision of the spec that has these rules, Scheduled whether its
	// schedule starts runs, Build tells the build.
	Rev   uint64 `json:"rev,omitempty"`
	Build uint64 `json:"build,omitempty"`
	// Scheduled crawls do not end.
	Scheduled bool `json:"scheduled,omitempty"`
	// Schedule is that of the runs, with its time zone, and ScheduleSince when it was
	// given to the crawl, Unix ms: runs that it names before are not made up for.
	Schedule      string `json:"schedule,omitempty"`
	ScheduleSince int64  `json:"schedule_since,omitempty"`
	// Links tells apart the rules for links, which are as they are since LinksRev.
	Links    uint64 `json:"links,omitempty"`
	LinksRev uint64 `json:"links_rev,omitempty"`
	// Review is where the judging of all URLs by changed rules has come to.
	Review *sweep `json:"review,omitempty"`
	// Reseed is where the feeding of all seeds, or of all URLs, to a new run has come
	// to, Again the last run that visits all, as the spec names it.
	Reseed *sweep `json:"reseed,omitempty"`
	Again  int64  `json:"again,omitempty"`
	// Opening says that URLs of hosts that seeds opened are to be taken back, Unchanged that links of pages that are
	// unchanged are to be found again.
	Opening   bool `json:"opening,omitempty"`
	Unchanged bool `json:"unchanged,omitempty"`
	// Since is the revision of the deletion of the name that this crawl came after.
	Since uint64 `json:"since,omitempty"`
	// Removing is where forgetting the crawl has come to, once it was deleted.
	Removing *removal `json:"removing,omitempty"`
	// Seeding is whether it was fed the seeds of its spec.
	Seeding seeding `json:"seeding,omitzero"`
}

// sweep is a walk through many keys, over many turns and restarts.
type sweep struct {
	After []byte `json:"after,omitempty"` // the last hash done
	// Count is what an audit has counted up to there: see Partition.audit.
	Count *frontierapi.Counters `json:"count,omitempty"`
	// All says that a new run is fed all URLs, not the seeds alone.
	All bool `json:"all,omitempty"`
	// Seeds is how many of those of the spec were fed to a new run.
	Seeds int `json:"seeds,omitempty"`
}

// anew begins a sweep from the first URL.
func (w *sweep) anew() *sweep {
	if w.audits() {
		return &sweep{Count: &frontierapi.Counters{}}
	}
	return &sweep{}
}

// activateCrawl returns what the partition knows of a crawl, perhaps nothing yet. It reads a crawl that rests.
func (s *Partition) activateCrawl(name string) (*crawl, error) {
	if c := s.crawls[name]; c != nil {
		return c, nil
	}
	c, err := s.loadCrawlState(name)
	if err == nil && c.known() && s.loader != nil { // which begins with all that are awake
		s.loader.load(s, map[string]*seen{name: c.seen})
	}
	return c, err
}

// crawl is activateCrawl for a crawl that is awake, since its rules were read in this turn.
func (s *Partition) crawl(name string) *crawl {
	c, err := s.activateCrawl(name)
	s.tx.Fail(err)
	return c
}

// working reports whether something is being done with many of the crawl's URLs or
// hosts, step by step.
func (c *crawl) working() bool {
	return c.Removing != nil || !c.standsStill() && (c.unpark || c.Opening || c.Unchanged || c.Reseed != nil || c.Review != nil)
}

// standsStill reports whether the crawl has no spec that can be used.
func (c *crawl) standsStill() bool { return c.rules != nil && c.rules.Still }

package state

import (
	"seine/internal/frontier/table"
	"seine/internal/schedule/traps"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
)

// crawl is what a partition knows of one crawl.
type crawl struct {
	table.Row
	crawlState
	seen    *seen
	salt    uint64                    // of the current run, in discovery.recent
	salted  int64                     // the run that it is of
	marks   map[messages.URLHash]bool // of paramOrderSeen in this turn
	shapes  *traps.PatternCounter
	roots   map[root]bool   // cache: whether seeds opened a host or domain
	barred  map[string]bool // cache: hosts that are noted as barred
	quota   quota
	audited int64 // when an audit began or ended last
	unpark  bool  // what is parked is to be put back
	dirty   bool
	// unparsed are the visits of the last Partition.CountParsing that are still parsed. The pages of those that were parsed before
	// lostBefore, in the partition's time, are lost.
	unparsed, lostBefore int64
	runs                 map[int64]*frontierapi.Run // whose figures change in this turn: see figuresOf
	savedRun             *frontierapi.Run           // cache: one that was saved last, as in the store

	rules    *Rules
	rulesFor uint64 // crawls.specsGen that rules were read under
	wasStale bool   // it was woken for no other reason: see recheckStale
	// idleFrom is since when nothing has happened: the last thing then was changedAt.
	idleFrom, changedAt int64
	seedsSent           uint64 // the list of seeds of the spec that the owner of the partition has published
	nextRun             int64  // when the schedule starts the crawl again, Unix ns; 0 if it does not
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
	// Seeding is how far it has received the seeds of its spec.
	Seeding seeding `json:"seeding,omitzero"`
}

// sweep is a walk through many keys, over many turns and restarts.
type sweep struct {
	After []byte `json:"after,omitempty"` // the last hash done
	// Count is what an audit has counted up to there: see base.audit.
	Count *frontierapi.Counters `json:"count,omitempty"`
	// All says that a new run starts with all URLs, not with the seeds alone.
	All bool `json:"all,omitempty"`
	// Recorded says that a new run starts with the pages that have records, beside the seeds.
	Recorded bool `json:"recorded,omitempty"`
	// Seeds is the number of seeds of the spec that a new run has received.
	Seeds int `json:"seeds,omitempty"`
}

// again starts a sweep from the first URL.
func (w *sweep) anew() *sweep {
	if w.audits() {
		return &sweep{Count: &frontierapi.Counters{}}
	}
	return &sweep{}
}

// newCrawl returns what is known of a crawl of which nothing is known.
func newCrawl(name string) *crawl {
	return &crawl{
		seen: newSeen(), shapes: traps.NewPatternCounter(), roots: make(map[root]bool), barred: make(map[string]bool), marks: make(map[messages.URLHash]bool), runs: make(map[int64]*frontierapi.Run),
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

// known reports whether the store has anything of the crawl.
func (c *crawlState) known() bool { return c.Started != 0 }

// working reports whether something is being done with many of the crawl's URLs or
// hosts, step by step.
func (c *crawl) working() bool {
	return !c.stalled() && (c.unpark || c.Opening || c.Unchanged || c.Reseed != nil || c.Review != nil)
}

// stalled reports whether the crawl has no spec that can be used.
func (c *crawl) stalled() bool { return c.rules != nil && c.rules.Stalled }

// follow notes by which rules the URLs of a crawl are judged from now on, before any is. If the rules differ from those
// before, all URLs are judged again, step by step, and what was parked may go: see reevaluate. Were it noted later, a change
// back would leave as it is what was judged meanwhile.
func (c *crawl) follow(r *Rules) {
	switch {
	case r.Stalled: // what is decided meanwhile is judged again by the spec that comes
		c.dirty, c.Print = c.dirty || c.Print != r.fingerprint, r.fingerprint
		return
	case c.Started == 0: // it has no URLs to judge
		return
	}
	if c.Rev != r.Rev || c.Build != buildPrint() {
		c.judgeBy(r)
	}
	if c.Print != r.fingerprint {
		c.Print, c.dirty, c.Review, c.unpark, c.quota = r.fingerprint, true, c.Review.anew(), true, quota{asked: c.quota.asked}
	}
}

// judgeBy notes by which spec, of which build, a crawl's URLs are judged.
func (c *crawl) judgeBy(r *Rules) {
	c.Rev, c.Build, c.Scheduled, c.dirty = r.Rev, buildPrint(), r.startsAgain(), true
	c.scheduledBy(r)
	if c.Started == 0 { // the first visits repeat nothing
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

// tally changes the counters of a crawl for a URL.
func (c *crawl) tally(hash messages.URLHash, by func(*frontierapi.Counters)) {
	by(&c.Counters)
	if c.Review.has(hash) {
		by(c.Review.Count)
	}
}

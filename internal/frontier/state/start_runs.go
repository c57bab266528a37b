package state

import (
	"fmt"
	"math"
	"time"

	"seine/internal/frontier/table"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// startRun starts a run from the seeds when the crawl's schedule is due, and over all URLs when the
// spec asks for that. One run makes up for all missed starts.
func (rv *reviews) startRun(name string, c *crawl, rules *Rules, now int64) error {
	if rules.AgainDue(c.Again) {
		c.Again = rules.Again
		rv.begins(name, c, rules.Again, &sweep{All: true}, now)
		rv.log.Info("crawl starts another run", "crawl", name, "run", c.Run)
	}
	if !rules.startsAgain() || rv.offline {
		c.nextRun = 0
		return nil
	}
	wall := rv.time.wall(now)
	if c.nextRun > wall {
		return nil
	}
	next, err := c.dueRun(rules, time.Unix(0, wall))
	if err != nil {
		return fmt.Errorf("schedule of crawl %s: %w", name, err)
	}
	c.nextRun = next.UnixNano()
	if next.IsZero() {
		c.nextRun = math.MaxInt64
	}
	if c.nextRun > wall {
		return nil
	}
	rv.log.Info("crawl starts a run of its schedule", "crawl", name, "run", next.Unix(), "due", next)
	rv.begins(name, c, next.Unix(), &sweep{
		All: c.Reseed != nil && c.Reseed.All, Recorded: rules.Gone == crawlspec.WhenGoneRecord,
	}, now)
	return nil
}

// begins begins a run. The new run is later than the previous one and those of other partitions,
// even if a fast clock named them.
func (rv *reviews) begins(name string, c *crawl, run int64, reseed *sweep, now int64) {
	c.Run = max(run, c.Run+1, c.LatestRun)
	rv.runs.goesOn(name, c.Run, now)
	c.Reseed, c.dirty, c.nextRun = reseed, true, 0
}

// dueRun returns the last start that is due by now, or else the next one.
func (c *crawl) dueRun(rules *Rules, now time.Time) (time.Time, error) {
	last := time.UnixMilli(c.Started)
	if run := time.Unix(c.Run, 0); run.After(last) {
		last = run
	}
	if since := time.UnixMilli(c.ScheduleSince); since.After(last) {
		last = since
	}
	soon, err := rules.NextRun(now)
	if err != nil {
		return time.Time{}, err
	}
	switch {
	case c.nextRun > 0: // its time has come
		last = time.Unix(0, c.nextRun-1)
	case !soon.IsZero() && !last.Before(soon): // a fast clock began or named the last run
		last = now
	}
	next, err := rules.NextRun(last)
	for err == nil && !next.IsZero() && !next.After(now) {
		following, err := rules.NextRun(next)
		if err != nil || following.IsZero() || following.After(now) {
			return next, err
		}
		next = following
	}
	return next, err
}

// firstRun returns the number of a crawl's first run. It is later than the runs of a deleted crawl
// of the name, whose records may be in the same database.
func (r *Rules) firstRun() int64 {
	if r.Deletion == nil {
		return 0
	}
	return max(0, r.Deletion.Time.Unix())
}

// since returns when the spec was stored, Unix ms; 0 if unknown.
func (r *Rules) since() int64 {
	if r.Time.IsZero() {
		return 0
	}
	return r.Time.UnixMilli()
}

// startsAgain reports whether a schedule starts runs of the crawl.
func (r *Rules) startsAgain() bool { return r.Schedule != "" && r.State != crawlspec.Cancelled }

// reseed adds a part of the seeds, or of all URLs, to the run that has started. With gone: record,
// a page that has records is visited even if no link leads to it any more.
func (rv *reviews) reseed(name string, c *crawl, rules *Rules, now int64) error {
	pre := table.Name(table.Prefix(rv.partition, kindSeed), name)
	if c.Reseed.All || c.Reseed.Recorded {
		pre = table.Name(table.Prefix(rv.partition, kindURL), name)
	}
	ids, last, err := rv.nextBatch(pre, name, c.Reseed)
	for _, id := range ids {
		if err != nil {
			break
		}
		var r *urlRecord
		if r, err = rv.urls.record(id); err == nil && r != nil && (c.Reseed.All || r.Seed || r.Recorded) {
			err = rv.joinRun(r, id, c, rules, now)
		}
	}
	if last && err == nil {
		last, err = rv.joinSeeds(name, c, rules, now)
	}
	if last {
		c.Reseed = nil
	}
	c.dirty = true
	return err
}

// joinRun adds a URL to the run that has started. If the run visits all, excluded URLs that were
// never visited stay as they are, and links of unchanged pages are marked as found, as the run has
// them anyway.
func (rv *reviews) joinRun(r *urlRecord, id urlID, c *crawl, rules *Rules, now int64) error {
	all := c.Reseed.All
	if r.Run >= c.Run || all && r.State == Excluded && !r.answered() {
		return nil
	}
	rv.urls.foundBy(r, id, c.Run)
	if all && (c.LinksRev == 0 || r.PageRound != 0 && r.PageRev >= c.LinksRev) {
		r.LinkRun = c.Run
	}
	rv.tx.save(id, r)
	if !r.State.ended() {
		return nil
	}
	return rv.visits.revisit(r, id, rules, now)
}

// joinSeeds adds a part of the spec's seeds to the run that has started, and reports whether it was
// the last.
func (rv *reviews) joinSeeds(name string, c *crawl, rules *Rules, now int64) (last bool, err error) {
	own := rv.seeds.ownSeeds(rules)
	from := min(c.Reseed.Seeds, len(own))
	for _, u := range own[from:min(from+reviewed, len(own))] {
		id := urlID{name, messages.HashURL(u.URL)}
		r, err := rv.urls.record(id)
		if err == nil && r != nil { // otherwise its seed message is still to come
			err = rv.joinRun(r, id, c, rules, now)
		}
		if err != nil {
			return false, err
		}
	}
	c.Reseed.Seeds = from + reviewed
	return c.Reseed.Seeds >= len(own), nil
}

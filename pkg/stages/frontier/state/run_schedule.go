package state

import (
	"fmt"
	"math"
	"time"

	"seine/pkg/crawlspec"
)

// since is when the spec was stored, Unix ms; 0 if that is not known.
func (r *Rules) since() int64 {
	if r.Time.IsZero() {
		return 0
	}
	return r.Time.UnixMilli()
}

// startsAgain reports whether a schedule starts the crawl again.
func (r *Rules) startsAgain() bool { return r.Schedule != "" && r.State != crawlspec.Cancelled }

// startRun starts the crawl again from its seeds when its schedule says so, and over
// everything when the spec asks for that.
// Starts that were missed are made up for by one.
func (s *Partition) startRun(name string, c *crawl, rules *Rules, now int64) error {
	if rules.AgainDue(c.Again) {
		c.Again = rules.Again
		s.begins(name, c, rules.Again, &sweep{All: true}, now)
		s.log.Info("crawl visits everything again", "crawl", name, "run", c.Run)
	}
	if !rules.startsAgain() || s.offline {
		c.nextRun = 0
		return nil
	}
	wall := s.time.wall(now)
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
	s.log.Info("crawl starts again by its schedule", "crawl", name, "run", next.Unix(), "due", next)
	s.begins(name, c, next.Unix(), &sweep{All: c.Reseed != nil && c.Reseed.All}, now)
	return nil
}

// begins begins a run. The one before, or that of another partition, may have been
// named by a clock that was ahead.
func (s *Partition) begins(name string, c *crawl, run int64, reseed *sweep, now int64) {
	c.Run = max(run, c.Run+1, c.LatestRun)
	s.goesOn(name, c.Run, now)
	c.Reseed, c.dirty, c.nextRun = reseed, true, 0
}

// dueRun is the last start that is due by now; if none is, the next one.
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
	case !soon.IsZero() && !last.Before(soon): // it began, or was named, by a clock that was ahead
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

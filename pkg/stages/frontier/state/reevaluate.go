package state

import (
	"seine/internal/base/weburl"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
	"seine/pkg/stages/frontier/table"
)

// reevaluate judges a part of a crawl's URLs by the rules as they are now.
func (s *Partition) reevaluate(name string, c *crawl, rules *Rules, now int64) error {
	ids, last, err := s.nextBatch(table.Name(table.Prefix(s.partition, kindURL), name), name, c.Review)
	if err == nil && c.Review.audits() {
		err = s.auditURLs(c, ids, now)
	}
	for _, id := range ids {
		if err == nil {
			err = s.reevaluateURL(id, rules, now)
		}
	}
	if last && err == nil {
		if c.Review.audits() {
			s.endAudit(name, c)
		}
		c.Review = nil
	}
	c.dirty = true
	return err
}

// reevaluateURL applies the rules to one URL that is not under way. What was
// decided on a page, by robots.txt or by a guard that compares URLs, stays.
func (s *Partition) reevaluateURL(id urlID, rules *Rules, now int64) error {
	r, err := s.record(id)
	if err != nil || r == nil {
		return err
	}
	if r.Seed {
		if err := s.addScopeRoots(id.crawl, r.URL); err != nil {
			return err
		}
	}
	switch r.State {
	case Queued, Waiting:
		return s.judgeWaiting(r, id, rules, now)
	case Excluded:
		return s.judgeExcluded(r, id, rules, now)
	case Done, Failed:
		if r.againDue() && !rules.isCancelledFor(r.URL) { // it was while that was cancelled
			return s.revisit(r, id, rules, now)
		}
		s.replan(r, id, rules, now)
		return nil
	case Parsing:
		return s.fetchLost(r, id, rules, now)
	default: // under way
		return nil
	}
}

func (s *Partition) judgeWaiting(r *urlRecord, id urlID, rules *Rules, now int64) error {
	reason, err := s.exclusion(id.crawl, r, rules, s.time.wall(now))
	if err != nil {
		return err
	}
	renamed := rules.normalize.Normalize(r.URL)
	if c, err := weburl.Canonicalize(renamed); err == nil {
		renamed = c
	}
	if renamed != r.URL {
		reason = frontierapi.ReasonNormalized
	}
	priority := rules.priority(r.URL, r.Own)
	if r.State == Queued {
		h, err := s.hostOf(r.URL)
		if err == nil {
			err = s.relist(h)
		}
		if err != nil {
			return err
		}
		if reason != "" || priority != r.Priority {
			s.drop(r, id, h)
		}
	}
	if reason == "" && priority == r.Priority {
		return nil
	}
	switch {
	case reason == "" && r.State == Queued:
		r.Priority = priority
		h, err := s.hostOf(r.URL)
		if err != nil {
			return err
		}
		s.push(r, id, h)
		s.tx.save(id, r)
		return nil
	case reason == "":
		r.Priority = priority
		s.tx.save(id, r)
		return nil
	}
	r.Due = 0
	s.setState(r, id, Excluded, reason, now)
	if reason == frontierapi.ReasonNormalized {
		return s.rename(r, renamed, id.crawl, rules, now)
	}
	return nil
}

// rename takes a URL under the name that it has by the rules of now.
func (s *Partition) rename(r *urlRecord, url, crawl string, rules *Rules, now int64) error {
	m := &messages.Candidates{
		Crawl: crawl, Source: messages.SourceLink, Referrer: r.Referrer, Depth: r.Depth, Redirects: r.Redirects, Run: r.Run,
		Era: messages.EraOf(r.Round),
	}
	if r.Seed {
		m.Source = messages.SourceSeed
		if !r.Kept { // it is of a spec, or where a seed has led by a redirect
			m.SeedList = max(rules.seeds.Fingerprint, 1)
		}
	}
	priority := int(r.Own)
	return s.candidate(m, messages.Candidate{URL: url, Priority: &priority}, rules, now)
}

// stands reports whether the rules have no say in why a URL is excluded: that was found
// by a request, or by a comparison with other URLs.
func (r *Rules) stands(u *urlRecord) bool {
	switch u.Reason {
	case frontierapi.ReasonRobots:
		return r.Robots == crawlspec.RobotsObey
	case frontierapi.ReasonAddress:
		return !r.AllowPrivate
	case frontierapi.ReasonNormalized:
		return r.normalize.Normalize(u.URL) != u.URL
	case frontierapi.ReasonScope, frontierapi.ReasonScheme, frontierapi.ReasonInclude, frontierapi.ReasonExclude, frontierapi.ReasonDepth, frontierapi.ReasonRedirects, frontierapi.ReasonCancelled, frontierapi.ReasonExtension, frontierapi.ReasonHostPages:
		return false
	default:
		return !r.overrules(u.Reason)
	}
}

// judgeExcluded takes back a URL whose reason no longer holds.
func (s *Partition) judgeExcluded(r *urlRecord, id urlID, rules *Rules, now int64) error {
	if rules.stands(r) {
		return nil
	}
	again, err := s.exclusion(id.crawl, r, rules, s.time.wall(now))
	if err != nil {
		return err
	}
	if again == r.Reason {
		return nil
	}
	return s.visitAgain(r, id, r.Recrawl, s.era(), rules, now)
}

// reseed feeds a part of the seeds, or of all URLs, to the run that has started.
func (s *Partition) reseed(name string, c *crawl, rules *Rules, now int64) error {
	pre := table.Name(table.Prefix(s.partition, kindSeed), name)
	if c.Reseed.All {
		pre = table.Name(table.Prefix(s.partition, kindURL), name)
	}
	ids, last, err := s.nextBatch(pre, name, c.Reseed)
	for _, id := range ids {
		if err != nil {
			break
		}
		var r *urlRecord
		if r, err = s.record(id); err == nil && r != nil {
			err = s.joinRun(r, id, c, rules, now)
		}
	}
	if last && err == nil {
		last, err = s.joinSeeds(name, c, rules, now)
	}
	if last {
		c.Reseed = nil
	}
	c.dirty = true
	return err
}

// joinRun makes a URL one of the run that has started. Where that is to visit all, what
// was never visited is left as it is, and an unchanged page leads to nothing that the run
// does not have anyway.
func (s *Partition) joinRun(r *urlRecord, id urlID, c *crawl, rules *Rules, now int64) error {
	all := c.Reseed.All
	if r.Run >= c.Run || all && r.State == Excluded && !r.answered() {
		return nil
	}
	s.foundBy(r, id, c.Run)
	if all && (c.LinksRev == 0 || r.PageRound != 0 && r.PageRev >= c.LinksRev) {
		r.LinkRun = c.Run
	}
	s.tx.save(id, r)
	if !r.State.ended() {
		return nil
	}
	return s.revisit(r, id, rules, now)
}

package state

import (
	"seine/internal/base/weburl"
	"seine/internal/frontier/table"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
)

// reviews starts runs, and processes all URLs of a crawl, a thousand in each turn: to evaluate them
// by changed rules, to audit them, or to visit them again in a run.
type reviews struct {
	*core
	visits    *visits
	discovery *discovery
	seeds     *SpecSeeds
}

// nextBatch returns the next URLs of a sweep, and whether they are the last.
func (rv *reviews) nextBatch(pre []byte, crawl string, at *sweep) (ids []urlID, last bool, err error) {
	last, err = rv.walk(pre, &at.After, func(key, _ []byte) error {
		if hash, ok := hashAtEnd(key[len(pre):]); ok {
			ids = append(ids, urlID{crawl, hash})
		}
		return nil
	})
	return ids, last, err
}

// reevaluate evaluates a part of a crawl's URLs by the current rules.
func (rv *reviews) reevaluate(name string, c *crawl, rules *Rules, now int64) error {
	ids, last, err := rv.nextBatch(table.Name(table.Prefix(rv.partition, kindURL), name), name, c.Review)
	if err == nil && c.Review.audits() {
		err = rv.auditURLs(c, ids, now)
	}
	for _, id := range ids {
		if err == nil {
			err = rv.reevaluateURL(id, rules, now)
		}
	}
	if last && err == nil {
		if c.Review.audits() {
			rv.endAudit(name, c)
		}
		c.Review = nil
	}
	c.dirty = true
	return err
}

// reevaluateURL applies the rules to one URL that is not in flight. Exclusions by a page's result,
// by robots.txt or by a guard that compares URLs remain.
func (rv *reviews) reevaluateURL(id urlID, rules *Rules, now int64) error {
	r, err := rv.urls.record(id)
	if err != nil || r == nil {
		return err
	}
	if r.Seed {
		if err := rv.scope.addScopeRoots(id.crawl, r.URL); err != nil {
			return err
		}
	}
	switch r.State {
	case Queued, Waiting:
		return rv.judgeWaiting(r, id, rules, now)
	case Excluded:
		return rv.judgeExcluded(r, id, rules, now)
	case Done, Failed:
		if r.againDue() && !rules.isCancelledFor(r.URL) { // it became due while the crawl or its source was cancelled
			return rv.visits.revisit(r, id, rules, now)
		}
		rv.visits.replan(r, id, rules, now)
		return nil
	case Parsing:
		return rv.visits.fetchLost(r, id, rules, now)
	default: // in flight
		return nil
	}
}

func (rv *reviews) judgeWaiting(r *urlRecord, id urlID, rules *Rules, now int64) error {
	reason, err := rv.scope.exclusion(id.crawl, r, rules, rv.time.wall(now))
	if err != nil {
		return err
	}
	renamed := rules.normalize.Normalize(r.URL)
	if c, err := weburl.CanonicalizeRoute(renamed); err == nil {
		renamed = c
	}
	if renamed != r.URL {
		reason = frontierapi.ReasonNormalized
	}
	priority := rules.priority(r.URL, r.Own)
	if r.State == Queued {
		h, err := rv.hosts.hostOf(r.URL)
		if err == nil {
			err = rv.hosts.relist(h)
		}
		if err != nil {
			return err
		}
		if reason != "" || priority != r.Priority {
			rv.queues.drop(r, id, h)
		}
	}
	if reason == "" && priority == r.Priority {
		return nil
	}
	switch {
	case reason == "" && r.State == Queued:
		r.Priority = priority
		h, err := rv.hosts.hostOf(r.URL)
		if err != nil {
			return err
		}
		rv.queues.push(r, id, h)
		rv.tx.save(id, r)
		return nil
	case reason == "":
		r.Priority = priority
		rv.tx.save(id, r)
		return nil
	}
	r.Due = 0
	rv.urls.setState(r, id, urlExcluded, reason, now)
	if reason == frontierapi.ReasonNormalized {
		return rv.rename(r, renamed, id.crawl, rules, now)
	}
	return nil
}

// rename adds a URL under its new name by the current rules.
func (rv *reviews) rename(r *urlRecord, url, crawl string, rules *Rules, now int64) error {
	m := &messages.Candidates{
		Crawl: crawl, Source: messages.SourceLink, Referrer: r.Referrer, Depth: r.Depth, Redirects: r.Redirects, Run: r.Run,
		Era: messages.EraOf(r.Round),
	}
	if r.Seed {
		m.Source = messages.SourceSeed
		if !r.Kept { // from a spec, or reached from a seed by a redirect
			m.SeedList = max(rules.seeds.Fingerprint, 1)
		}
	}
	priority := int(r.Own)
	return rv.discovery.candidate(m, messages.Candidate{URL: url, Priority: &priority}, rules, now)
}

// stands reports whether the current rules cannot lift the exclusion of a URL, as a request or a
// comparison with other URLs has caused it.
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

// judgeExcluded admits a URL whose exclusion reason no longer holds.
func (rv *reviews) judgeExcluded(r *urlRecord, id urlID, rules *Rules, now int64) error {
	if rules.stands(r) {
		return nil
	}
	again, err := rv.scope.exclusion(id.crawl, r, rules, rv.time.wall(now))
	if err != nil {
		return err
	}
	if again == r.Reason {
		return nil
	}
	return rv.visits.visitAgain(r, id, r.Recrawl, rv.era(), rules, now)
}

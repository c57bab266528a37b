package state

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"seine/internal/base/weburl"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
)

// discovery applies messages with URLs.
type discovery struct {
	*core
	visits  *visits
	recent  *recentLinks
	arrival uint64 // arrival number of the last URL
}

// take applies a message of URLS.
func (d *discovery) take(m *messages.Candidates, rules *Rules, partitions int, now int64) (bad []messages.BadURL, err error) {
	if c := d.crawls.get(m.Crawl); c.Started == 0 { // the first URLs of the crawl
		c.Print = rules.fingerprint
		c.judgeBy(rules)
	}
	if m.Source == messages.SourceUnchanged {
		return nil, d.noteUnchanged(m)
	}
	var found []messages.URLHash
	for _, c := range m.URLs {
		url, err := d.identity(c.URL, rules, partitions)
		if err != nil {
			bad = append(bad, messages.BadURL{Text: c.URL, Err: err})
			continue
		}
		c.URL = url
		if err := d.candidate(m, c, rules, now); err != nil {
			return bad, err
		}
		if m.PageRound != 0 { // otherwise its links are not kept
			found = append(found, messages.HashURL(url))
		}
	}
	if err := d.keepLinks(m, found); err != nil {
		return bad, err
	}
	d.noteSeeds(m, rules)
	if !m.Ends.IsZero() {
		return bad, d.visits.parsed(m, now)
	}
	return bad, nil
}

// identity returns the canonical URL by which the crawl knows url. A stage with a different version
// or an old spec cannot introduce the same page twice.
func (d *discovery) identity(url string, rules *Rules, partitions int) (string, error) {
	c, err := rules.canonical(url)
	if err != nil {
		return "", err
	}
	if p := messages.Partition(c, partitions); p != d.partition {
		return "", fmt.Errorf("%s belongs to partition %d, but was sent to %d", messages.Clip(c), p, d.partition)
	}
	return c, nil
}

// canonical returns the spelling by which the crawl knows a URL.
func (r *Rules) canonical(url string) (string, error) {
	c, err := weburl.CanonicalizeRoute(url)
	if err != nil {
		return "", err
	}
	return r.normalize.Normalize(c), nil
}

// candidate applies one URL of a message.
func (d *discovery) candidate(m *messages.Candidates, c messages.Candidate, rules *Rules, now int64) error {
	id := urlID{m.Crawl, messages.HashURL(c.URL)}
	crawl := d.crawls.get(m.Crawl)
	// A redirect from a seed opens the same scope as the seed.
	opens := m.Depth == 0 && m.Source != messages.SourceLink
	if opens {
		if err := d.scope.addScopeRoots(m.Crawl, c.URL); err != nil {
			return err
		}
	}
	if m.Source == messages.SourceSeed {
		if err := d.hosts.probe(weburl.Host(c.URL)); err != nil {
			return err
		}
	}
	own := ownPriority(c.Priority)
	found := urlRecord{
		URL: c.URL, Referrer: m.Referrer, rareFields: rareFields{Own: own}, Round: messages.FirstRound(m.Era, rules.Deletions()),
		Seed: opens, Sitemap: c.Sitemap, Depth: m.Depth, Redirects: m.Redirects, Run: max(m.Run, crawl.startingRun(m)),
	}
	if found.Run > crawl.LatestRun {
		crawl.LatestRun, crawl.dirty = found.Run, true
	}
	salt := crawl.saltFor(m.Crawl)
	mayBeGate := m.Source == messages.SourceRedirect && rules.cookies
	carries := m.Source == messages.SourceRedirect && m.Metadata != nil
	if !mayBeGate && !carries && !c.Sitemap && d.recent.covers(&found, crawl.Run, salt, id.hash) {
		candidatesTotal.known.Inc()
		return nil
	}
	if crawl.seen.has(id.hash) {
		known, err := d.urls.record(id)
		if err != nil {
			return err
		}
		if known != nil {
			candidatesTotal.known.Inc()
			err := errors.Join(d.mergeKnown(known, &found, id, m, rules, now), d.urls.applyMetadata(m, &c, known, id, true))
			d.recent.add(known, crawl.Run, salt, id.hash)
			return err
		}
		if !crawl.seen.loading {
			bloomFalseTotal.Inc()
		}
	}
	crawl.seen.add(id.hash)
	added := new(urlRecord)
	*added = found
	added.Kept = keepsSeed(m)
	added.Arrival = d.nextArrival(now)
	err := errors.Join(d.visits.admit(added, id, rules, now), d.urls.applyMetadata(m, &c, added, id, false))
	d.recent.add(added, crawl.Run, salt, id.hash)
	if added.State == Excluded {
		candidatesTotal.excluded.Inc()
	} else {
		candidatesTotal.queued.Inc()
	}
	return err
}

// keepsSeed reports whether every run begins with the URLs of a message, whatever the spec lists.
func keepsSeed(m *messages.Candidates) bool {
	return m.Source == messages.SourceSeed && m.SeedList == 0
}

// saltFor returns the salt of the crawl's current run: see recentLinks.
func (c *crawl) saltFor(name string) uint64 {
	if c.salted != c.Run {
		c.salt, c.salted = saltOf(name, c.Since, c.Run), c.Run
	}
	return c.salt
}

// startingRun returns the run for a message that names none: submitted URLs belong to the current
// run.
func (c *crawl) startingRun(m *messages.Candidates) int64 {
	if m.Source == messages.SourceSeed {
		return c.Run
	}
	return 0
}

// nextArrival numbers URLs in the order of discovery, which restarts preserve.
func (d *discovery) nextArrival(now int64) uint64 {
	d.arrival = max(d.arrival+1, uint64(now/int64(time.Microsecond)))
	return d.arrival
}

// mergeKnown applies a URL that is already known:
//
//   - A URL found nearer to a seed or with a better priority moves up. It is admitted if it was excluded only by its distance.
//   - A submitted URL that failed or was excluded is tried again: the site or the spec may have changed.
//   - A URL found by a later run of the crawl is visited again.
//   - A URL submitted as a sitemap but visited as a page is visited again and read as a sitemap.
func (d *discovery) mergeKnown(r, found *urlRecord, id urlID, m *messages.Candidates, rules *Rules, now int64) error {
	gate := false
	if m.Source == messages.SourceRedirect {
		var err error
		if gate, err = d.meetGate(r, found, id, rules); err != nil {
			return err
		}
	}
	nearer := found.Depth < r.Depth
	fed := m.Source == messages.SourceSeed
	if keepsSeed(m) && !r.Kept {
		r.Kept = true
		d.tx.save(id, r)
	}
	newRun := found.Run > r.Run
	marks := found.Sitemap && !r.Sitemap
	better := nearer || found.Own < r.Own || found.Seed && !r.Seed
	if !gate && !newRun && !better && !marks && !(fed && (r.State == Excluded || r.State == Failed)) {
		return nil
	}
	wasQueued := r.State == Queued
	if wasQueued {
		h, err := d.hosts.hostOf(r.URL)
		if err != nil {
			return err
		}
		d.queues.drop(r, id, h)
	}
	tooFar := r.State == Excluded && slices.Contains(reasonsOfDistance, r.Reason)
	if nearer || newRun && r.State.ended() {
		r.Depth, r.Redirects, r.Referrer = found.Depth, found.Redirects, found.Referrer
	}
	r.Seed = r.Seed || found.Seed
	r.Sitemap = r.Sitemap || found.Sitemap
	r.Own = min(r.Own, found.Own)
	r.Priority = rules.priority(r.URL, r.Own)
	d.urls.foundBy(r, id, found.Run)
	switch {
	case wasQueued:
		h, err := d.hosts.hostOf(r.URL)
		if err != nil {
			return err
		}
		d.queues.push(r, id, h)
		d.tx.save(id, r)
		return d.schedule.readyIfDue(h, now)
	case gate, r.State == Excluded && (fed || newRun || marks || nearer && tooFar),
		r.State == Failed && (fed || newRun), r.State == Done && (newRun || marks && keepsSeed(m)):
		return d.visits.visitAgain(r, id, false, m.Era, rules, now)
	}
	d.tx.save(id, r) // for the links found on it from now on
	return nil
}

// reasonsOfDistance are exclusion reasons that a shorter path can lift.
var reasonsOfDistance = []string{frontierapi.ReasonDepth, frontierapi.ReasonRedirects}

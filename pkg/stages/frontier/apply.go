package frontier

import (
	"fmt"
	"time"

	"seine/internal/weburl"
	"seine/pkg/messages"
)

// errCandidate is why one URL of a message was not taken; the others were.
type errCandidate struct {
	url string
	err error
}

// candidates applies a message of URLS: new URLs are queued or excluded, and
// the visit that it ends is ended. It returns the URLs that are none.
func (s *shard) candidates(m *messages.Candidates, partitions int, now int64) (bad []errCandidate, err error) {
	rules, err := s.specs(m.Crawl, m.Rev)
	if err != nil {
		return nil, err
	}
	for _, c := range m.URLs {
		if err := s.checkCanonical(c.URL, partitions); err != nil {
			bad = append(bad, errCandidate{c.URL, err})
			continue
		}
		if err := s.candidate(m, c, rules, now); err != nil {
			return bad, err
		}
	}
	if !m.Ends.IsZero() {
		return bad, s.parsed(m, now)
	}
	return bad, nil
}

// checkCanonical guards the identity of URLs against a parser that does not
// share our idea of it.
func (s *shard) checkCanonical(url string, partitions int) error {
	c, err := weburl.Canonicalize(url)
	if err != nil {
		return err
	}
	if c != url {
		return fmt.Errorf("%s is not canonical; %s is", messages.Clip(url), messages.Clip(c))
	}
	if p := messages.Partition(url, partitions); p != s.partition {
		return fmt.Errorf("%s belongs to partition %d, and came to %d", messages.Clip(url), p, s.partition)
	}
	return nil
}

// candidate takes one URL.
func (s *shard) candidate(m *messages.Candidates, c messages.Candidate, rules *rules, now int64) error {
	id := urlID{m.Crawl, messages.HashURL(c.URL)}
	crawl := s.crawl(m.Crawl)
	// A redirect away from a seed means what the seed meant.
	seed := m.Depth == 0 && m.Source != messages.SourceLink
	if seed {
		if err := s.openRoot(m.Crawl, rules.root(c.URL), rules, now); err != nil {
			return err
		}
	}
	if crawl.seen.has(id.hash) {
		r, err := s.record(id)
		if err != nil {
			return err
		}
		if r != nil {
			candidatesTotal.WithLabelValues("known").Inc()
			return s.again(r, id, m, seed, rules, now)
		}
		bloomFalseTotal.Inc()
	}
	crawl.seen.add(id.hash)
	r := &record{
		URL: c.URL, Referrer: m.Referrer, Priority: messages.DefaultPriority, Round: 1,
		Depth: m.Depth, Redirects: m.Redirects, Arrival: s.nextArrival(now),
	}
	if c.Priority != nil {
		r.Priority = byte(*c.Priority)
	}
	return s.admit(r, id, seed, rules, now)
}

// nextArrival orders URLs by discovery, over restarts too.
func (s *shard) nextArrival(now int64) uint64 {
	s.arrival = max(s.arrival+1, uint64(now/int64(time.Microsecond)))
	return s.arrival
}

// admit queues a URL, or excludes it with the reason.
func (s *shard) admit(r *record, id urlID, seed bool, rules *rules, now int64) error {
	root := rules.root(r.URL)
	reason := rules.excludes(r, seed, root == "" || s.crawl(id.crawl).roots[root])
	if reason == "" {
		candidatesTotal.WithLabelValues("queued").Inc()
		return s.queue(r, id, now)
	}
	candidatesTotal.WithLabelValues("excluded").Inc()
	if reason == ReasonScope {
		s.tx.set(append(s.outsidePrefix(id.crawl, root), id.hash[:]...), nil)
	}
	s.move(r, id, Excluded, reason, now)
	return nil
}

// queue puts a URL into the queue of its host.
func (s *shard) queue(r *record, id urlID, now int64) error {
	h, err := s.host(weburl.Host(r.URL))
	if err != nil {
		return err
	}
	s.move(r, id, Queued, "", now)
	s.push(r, id, h)
	s.readyIfDue(h, now)
	return nil
}

// again takes a URL that is known. One found nearer to a seed than before moves
// up, and is admitted if it was only too far away. One that a person feeds
// again, although it failed or was excluded, is tried again: the site may be
// back, or the spec another.
func (s *shard) again(r *record, id urlID, m *messages.Candidates, seed bool, rules *rules, now int64) error {
	nearer := m.Depth < r.Depth
	switch {
	case m.Source == messages.SourceSeed && (r.State == Excluded || r.State == Failed),
		r.State == Excluded && nearer && (r.Reason == ReasonDepth || r.Reason == ReasonRedirects):
		r.Depth, r.Redirects, r.Referrer = min(r.Depth, m.Depth), m.Redirects, m.Referrer
		if r.Sent > 0 { // another visit, with identities of its own
			r.Round, r.Sent, r.Failures, r.Parsed = r.Round+1, 0, 0, false
		}
		return s.admit(r, id, seed, rules, now)
	case !nearer:
		return nil
	case r.State == Queued:
		return s.moveUp(r, id, m, now)
	}
	r.Depth = m.Depth // for what is found on it from now on
	s.tx.change(id, r)
	return nil
}

// moveUp gives a queued URL the place of its new depth.
func (s *shard) moveUp(r *record, id urlID, m *messages.Candidates, now int64) error {
	h, err := s.host(weburl.Host(r.URL))
	if err != nil {
		return err
	}
	s.drop(r, id, h)
	r.Depth, r.Referrer = m.Depth, m.Referrer
	s.push(r, id, h)
	s.tx.change(id, r)
	s.readyIfDue(h, now)
	return nil
}

// openRoot lets a crawl enter a host or domain, and takes back the URLs there
// that were found before: the order of seeds and links does not matter.
func (s *shard) openRoot(name, root string, rules *rules, now int64) error {
	c := s.crawl(name)
	if root == "" || c.roots[root] {
		return nil
	}
	// What this turn has excluded must be in the store to be found there.
	if err := s.commit(); err != nil {
		return err
	}
	c.roots[root] = true
	s.tx.set(s.rootKey(name, root), nil)
	pre := s.outsidePrefix(name, root)
	return s.store.scan(pre, nil, func(key, _ []byte) (bool, error) {
		id := urlID{name, messages.URLHash(key[len(pre):])}
		s.tx.delete(append([]byte(nil), key...))
		r, err := s.record(id)
		if err != nil || r == nil || r.State != Excluded || r.Reason != ReasonScope {
			return err == nil, err
		}
		return true, s.admit(r, id, false, rules, now)
	})
}

// parsed ends the visit whose page was parsed. Its result may still be on the
// way: then the visit ends when that comes.
func (s *shard) parsed(m *messages.Candidates, now int64) error {
	id := urlID{m.Crawl, m.Ends.URL}
	r, err := s.record(id)
	if err != nil || r == nil || r.Round != m.Ends.Round {
		return err
	}
	switch {
	case r.State == Parsing:
		s.finish(r, id, m.ParseError, now)
	case r.State < Parsing && !r.Parsed:
		r.Parsed, r.Reason = true, m.ParseError
		s.tx.change(id, r)
	}
	return nil
}

// finish ends the visit of a page that was fetched and parsed, or that could
// not be parsed, for the reason given.
func (s *shard) finish(r *record, id urlID, parseError string, now int64) {
	if parseError != "" {
		s.move(r, id, Failed, parseError, now)
		return
	}
	s.move(r, id, Done, "", now)
}

// result applies a message of RESULTS. One for a visit that is not under way
// is a repeat, and changes nothing.
func (s *shard) result(res *messages.Result, now int64) error {
	id := urlID{res.Crawl, res.Visit.URL}
	req := s.inFlight[id]
	if req == nil || req.Round != res.Visit.Round {
		return nil
	}
	if res.Attempt != req.Sent && res.Class.Retryable() {
		return nil // of an attempt given up; the one under way decides
	}
	rules, err := s.specs(res.Crawl, res.Rev)
	if err != nil {
		return err
	}
	resultsTotal.WithLabelValues(string(res.Class)).Inc()
	s.land(req, id)
	req.host.finished(res)
	req.host.rest(now, res, rules.Spec, int64(24*time.Hour))
	s.touch(req.host)

	c := s.crawl(id.crawl)
	increase(&c.Attempts, res.Class, 1)
	c.BytesWire += res.BytesWire
	c.BytesBody += res.BytesBody
	s.budgets.settle(id.crawl, res.Class == messages.OK)

	r := req.record
	r.Status, r.Class = res.Status, res.Class
	s.conclude(r, id, req.host, res, rules, now)
	s.readyIfDue(req.host, now)
	return nil
}

// land ends a request under way.
func (s *shard) land(req *request, id urlID) {
	delete(s.inFlight, id)
	req.host.inFlight--
	s.tx.delete(s.inFlightKey(id))
}

// conclude decides by the class what becomes of the URL.
func (s *shard) conclude(r *record, id urlID, h *host, res *messages.Result, rules *rules, now int64) {
	switch {
	case res.Class == messages.OK:
		s.crawl(id.crawl).Pages++
		if r.Parsed {
			s.finish(r, id, r.Reason, now)
		} else {
			s.move(r, id, Parsing, "", now)
		}
	case res.Class == messages.NotModified, res.Class == messages.Redirect:
		s.move(r, id, Done, "", now)
	case res.Class == messages.RobotsDenied:
		s.move(r, id, Excluded, ReasonRobots, now)
	case res.Class == messages.RefusedAddress:
		s.move(r, id, Excluded, ReasonAddress, now)
	case res.Class == messages.RobotsFetched && r.Sent-r.Failures <= maxRobotsTurns:
		s.move(r, id, Queued, "", now)
		s.push(r, id, h)
	case res.Class.Retryable():
		s.retry(r, id, res, rules, now)
	default:
		s.move(r, id, Failed, messages.Clip(reasonOf(res)), now)
	}
}

// maxRobotsTurns is how often a visit may give up its turn to robots.txt
// before that counts as a failure: the file is being forgotten at once.
const maxRobotsTurns = 5

// retry lets the URL wait for another attempt, twice as long each time, unless
// it has had them all.
func (s *shard) retry(r *record, id urlID, res *messages.Result, rules *rules, now int64) {
	r.Failures++
	if r.Failures >= rules.MaxAttempts {
		s.move(r, id, Failed, messages.Clip(reasonOf(res)), now)
		return
	}
	wait := retryBase << min(r.Failures-1, 12)
	r.Due = now + min(wait, int64(time.Hour)) + jitter(id, r.Sent, wait/4)
	s.move(r, id, Waiting, "", now)
	s.tx.set(s.retryKey(r.Due, id), nil)
	s.nextRetry = min(s.nextRetry, r.Due)
}

// retryBase is the wait before the second attempt.
const retryBase = int64(time.Second)

// jitter spreads retries over span, the same for the same attempt.
func jitter(id urlID, n int, span int64) int64 {
	if span <= 0 {
		return 0
	}
	x := uint64(id.hash[0]) | uint64(id.hash[1])<<8 | uint64(id.hash[2])<<16 | uint64(n)<<24
	x *= 0x9E3779B97F4A7C15
	return int64((x >> 1) % uint64(span))
}

func reasonOf(res *messages.Result) string {
	if res.Error != "" {
		return string(res.Class) + ": " + res.Error
	}
	return string(res.Class)
}

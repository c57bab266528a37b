package frontier

import (
	"math"
	"time"

	"seine/pkg/messages"
)

// interval returns how long to wait before a page is visited again, 0 if it is
// not. Where a rule gives bounds, it starts between them, and is then halved
// when the page has changed and grows by half when it has not: a page that
// changes at random is met about as often as it changes (the rule of Nutch's
// AdaptiveFetchSchedule, with other factors).
func (r *rules) interval(u *record, changed, first bool) time.Duration {
	for i := range r.recrawl {
		rule := &r.recrawl[i]
		if !rule.match.MatchString(u.URL) {
			continue
		}
		d := time.Duration(u.Interval)
		switch {
		case first || d == 0:
			d = time.Duration(math.Sqrt(float64(rule.min) * float64(rule.max)))
		case changed:
			d /= 2
		default:
			d += d / 2
		}
		return min(max(d, rule.min), rule.max)
	}
	return 0
}

// learn keeps what a response says for the next visit.
func (r *record) learn(res *messages.Result, digest uint64, rules *rules) {
	first := r.Interval == 0
	changed := res.Class != messages.NotModified && (digest == 0 || digest != r.Digest)
	switch res.Class {
	case messages.OK:
		r.ETag, r.LastModified, r.Digest = res.ETag, res.LastModified, digest
		if r.PageRound != r.Round { // unless the parser has told of it already
			r.PageRound = 0
		}
	case messages.NotModified: // may bring newer validators (RFC 9110 15.4.5)
		if res.ETag != "" {
			r.ETag = res.ETag
		}
		if res.LastModified != "" {
			r.LastModified = res.LastModified
		}
		r.LinkRun = max(r.LinkRun, r.SentRun)
	default:
	}
	r.Interval = int64(rules.interval(r, changed, first))
}

// plan sets the next visit of a URL whose visit has ended, if there is to be
// one.
func (s *shard) plan(r *record, id urlID, now int64) {
	if r.Interval == 0 {
		return
	}
	r.Due = now + r.Interval + jitter(id, int(r.Round), r.Interval/16)
	s.crawl(id.crawl).tally(id.hash, func(n *Counters) { n.Planned++ })
	s.tx.set(s.retryKey(r.Due, id), nil)
	s.nextRetry = min(s.nextRetry, r.Due)
}

// unplan forgets the next visit. Its entry in the index stays, and finds
// nothing when it is due.
func (s *shard) unplan(r *record, id urlID) {
	if r.State.ended() && r.Due != 0 {
		r.Due = 0
		s.crawl(id.crawl).tally(id.hash, func(n *Counters) { n.Planned-- })
	}
}

// revisit queues a URL for another visit, unless a rule is against it now.
func (s *shard) revisit(r *record, id urlID, rules *rules, now int64) error {
	s.unplan(r, id)
	r.again()
	return s.admit(r, id, rules, now)
}

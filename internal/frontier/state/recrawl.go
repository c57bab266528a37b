package state

import (
	"math"
	"time"

	"seine/pkg/messages"
)

// interval returns how long to wait before a page is visited again, 0 if it is not. If a rule gives
// bounds, the interval starts between them. It is halved when the page has changed, and grows by
// half when it has not. So a page that changes at random is visited about as often as it changes
// (the method of Nutch's AdaptiveFetchSchedule, with other factors). halves is the next interval in
// halves of the last.
func (r *Rules) interval(u *urlRecord, halves time.Duration) time.Duration {
	rule := r.recrawlRule(u.URL)
	switch {
	case rule == nil:
		return 0
	case u.Interval == 0:
		return rule.first()
	}
	return rule.bound(time.Duration(u.Interval) * halves / 2)
}

// Halves of the last interval.
const (
	whenChanged   = 1
	whenUnchanged = 3
	whenUnknown   = 2 // it is unknown whether the page has changed
)

// recrawlRule returns the first rule for a URL, nil if there is none.
func (r *Rules) recrawlRule(url string) *recrawlRule {
	for i := range r.recrawl {
		if r.recrawl[i].match.MatchString(url) {
			return &r.recrawl[i]
		}
	}
	return nil
}

// first returns the interval after the first visit.
func (r *recrawlRule) first() time.Duration {
	return r.bound(time.Duration(math.Sqrt(float64(r.min) * float64(r.max))))
}

func (r *recrawlRule) bound(d time.Duration) time.Duration { return min(max(d, r.min), r.max) }

// replan applies the current rules to the next visit of a URL whose visit has ended: it drops,
// moves or plans the visit.
func (v *visits) replan(r *urlRecord, id urlID, rules *Rules, now int64) {
	interval := int64(rules.interval(r, whenUnknown))
	planned := interval != 0 && !rules.isCancelledFor(r.URL)
	switch {
	case !r.hasInterval():
		return
	case interval == r.Interval && planned == (r.Due != 0):
		return
	}
	v.urls.unplan(r, id)
	r.Interval = interval
	v.tx.save(id, r)
	if planned {
		visited := v.time.at(r.Changed * int64(time.Millisecond))
		v.urls.planAt(r, id, min(max(visited+interval, now), now+interval))
	}
}

// hasInterval reports whether a rule may plan another visit. A URL that could never be fetched is
// not tried again.
func (r *urlRecord) hasInterval() bool {
	return r.Interval != 0 || r.Fetched || r.Class != "" && !r.Class.Retryable()
}

// learn stores what a response says about the next visit.
func (r *urlRecord) learn(res *messages.Result, digest uint64, rules *Rules) {
	halves := time.Duration(whenUnchanged)
	if res.Class != messages.NotModified && (digest == 0 || digest != r.Digest) {
		halves = whenChanged
	}
	switch res.Class {
	case messages.OK:
		r.ETag, r.LastModified, r.Digest = res.ETag, res.LastModified, digest
		if r.PageRound != r.Round { // otherwise the parser has already reported its links
			r.PageRound = 0
		}
	case messages.NotModified: // may bring newer validators (RFC 9110 15.4.5)
		if res.ETag != "" {
			r.ETag = res.ETag
		}
		if res.LastModified != "" {
			r.LastModified = res.LastModified
		}
	default:
	}
	r.Interval = int64(rules.interval(r, halves))
}

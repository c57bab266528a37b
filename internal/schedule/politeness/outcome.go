package politeness

import "time"

// Outcome is how a request ended.
type Outcome struct {
	Kind Kind
	// Took is the time to the end of the response. That of Good outcomes counts
	// for the smoothed response time, unless it is 0.
	Took time.Duration
	// Age is how long ago the request ended, from 0: less is believed where another request to
	// the host began or ended since.
	Age time.Duration
	// RetryAfter is what the host asked for, if more than 0. It counts with
	// Throttled, HostFailure and Abandoned: that of a redirect is about its target only.
	RetryAfter time.Duration
	// CrawlDelay is what robots.txt says now (0 if it says nothing); nil leaves
	// what was known. For a group of hosts it is the longest of theirs.
	CrawlDelay *time.Duration
}

// Kind is what an outcome says of the host.
type Kind uint8

// Kinds of outcomes.
const (
	// Neutral says nothing: the request was cancelled, or fetched robots.txt.
	// The delay after it is kept, as the host may have seen it.
	Neutral Kind = iota
	// Unsent is Neutral, and nothing was sent: robots.txt, or the guard of
	// addresses, did not allow it. No delay follows.
	Unsent
	// Good is an answer of a host that is well: 2xx, 3xx, and 4xx that is about
	// the URL.
	Good
	// Throttled is a refusal for now: 429 and 503.
	Throttled
	// Refused is a refusal for good, of one URL: 403. One says no more than that; several
	// in a row say that the crawler is not wanted, or not at this pace.
	Refused
	// Abandoned is of a request that may still be in flight, and whose end will not be
	// reported: the host is left alone for RetryAfter, by when it has ended.
	Abandoned
	// HostFailure is of DNS, connection or TLS, a timeout, a stalled body, or 5xx
	// other than 503.
	HostFailure
)

// Event is what changed by an outcome.
type Event uint8

// Events. Where an outcome closes the breaker and slows down, the event is Closed.
const (
	NoEvent     Event = iota
	Slowed            // a refusal made the delay longer
	Recovered         // the slowdown is over
	Opened            // the breaker has opened
	ProbeFailed       // it stays open, for longer
	// GaveUp is ProbeFailed with the last probe that the rules allow, and with
	// each after that: what is queued for the host now should fail. What is queued
	// later waits for the next probe, which decides again.
	GaveUp
	Closed // the breaker has closed
)

var eventNames = [...]string{"", "slowed", "recovered", "opened", "probe_failed", "gave_up", "closed"}

// String returns a name for logs and metrics.
func (e Event) String() string {
	if int(e) < len(eventNames) {
		return eventNames[e]
	}
	return "unknown"
}

// Phase is why a host waits.
type Phase string

// Phases.
const (
	Due         Phase = ""             // it does not: a request may start
	Delay       Phase = "delay"        // between two requests
	Backoff     Phase = "backoff"      // longer than usual, since the host refused
	RetryAfter  Phase = "retry_after"  // for as long as the host asked
	BreakerOpen Phase = "breaker_open" // until a probe succeeds
	OutOfHours  Phase = "hours"        // until its hours begin
)

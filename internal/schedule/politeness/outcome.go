package politeness

import "time"

// Outcome is the outcome of a request.
type Outcome struct {
	Kind Kind
	// Took is the time to the end of the response. For Good outcomes it counts for the smoothed
	// response time, unless it is 0.
	Took time.Duration
	// Age is how long ago the request ended, at least 0. It is reduced if another request to the
	// host began or ended since.
	Age time.Duration
	// RetryAfter is the wait that the host asked for, if positive. It applies to Throttled,
	// HostFailure and Abandoned: that of a redirect concerns only its target.
	RetryAfter time.Duration
	// CrawlDelay is the current value in robots.txt (0 if none); nil keeps the known value. For a
	// group of hosts it is the longest of theirs.
	CrawlDelay *time.Duration
}

// Kind is what an outcome means for the host.
type Kind uint8

// Kinds of outcomes.
const (
	// Neutral says nothing about the host: the request was cancelled, or fetched robots.txt. The
	// delay after it applies, as the host may have seen the request.
	Neutral Kind = iota
	// Unsent is Neutral without a sent request: robots.txt, or the address guard, did not allow it.
	// No delay follows.
	Unsent
	// Good is a response of a healthy host: 2xx, 3xx, and 4xx that concerns the URL.
	Good
	// Throttled is a temporary refusal: 429 and 503.
	Throttled
	// Refused is a permanent refusal of one URL: 403. Several in a row mean that the crawler is not
	// wanted, or not at this pace.
	Refused
	// Abandoned is a request that may still be in flight and whose end will not be reported. The
	// host gets no request for RetryAfter, by when it has ended.
	Abandoned
	// HostFailure is a failure of DNS, connection or TLS, a timeout, a stalled body, or 5xx other
	// than 503.
	HostFailure
)

// Event is a change caused by an outcome.
type Event uint8

// Events. If an outcome closes the breaker and slows the host down, the event is Closed.
const (
	NoEvent     Event = iota
	Slowed            // a refusal increased the delay
	Recovered         // the slowdown has ended
	Opened            // the breaker has opened
	ProbeFailed       // the breaker stays open, for longer
	// GaveUp is ProbeFailed with the last probe that the rules allow, and with each probe after it.
	// URLs now queued for the host should fail. URLs queued later wait for the next probe, which
	// decides again.
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

// Phase is the reason why a host waits.
type Phase string

// Phases.
const (
	Due         Phase = ""             // no wait: a request may start
	Delay       Phase = "delay"        // the delay between two requests
	Backoff     Phase = "backoff"      // a longer delay after a refusal
	RetryAfter  Phase = "retry_after"  // the wait that the host asked for
	BreakerOpen Phase = "breaker_open" // until a probe succeeds
	OutOfHours  Phase = "hours"        // until its hours begin
)

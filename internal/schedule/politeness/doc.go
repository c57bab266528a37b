// Package politeness decides when a host may be sent the next request, and how many requests may be
// in flight at once. A host may also be a group of hosts, such as a domain.
//
// It is a state machine without clock, input or output. The caller stores a [State] with each host,
// reports when a request starts ([State.Begin]) and how it ended ([State.End]), and asks when the
// next may start ([State.Earliest]) and how many may be in flight ([State.Limit]). Times are
// nanoseconds of the caller's clock: see below. A State has 72 bytes. Encoded, it takes two bytes
// when it is empty and about 25 in use. None of its methods allocates. It is not safe for
// concurrent use.
//
// If the caller starts no request before Earliest and none beyond Limit, the following holds
// whatever the outcomes:
//
//   - The next request starts no sooner than the delay after the end of a response. If there is a delay, only one request is in flight. The delay is at least [Rules].Delay, the Crawl-delay of robots.txt and a multiple of the smoothed response time, the last two capped at MaxDelay.
//   - Requests start no closer to each other than Interval.
//   - After 429 and 503 the host gets no request for as long as Retry-After says (RFC 9110, section 10.2.3; RFC 6585, section 4), up to MaxRetryAfter, and for twice the previous delay in any case. That slowdown stays as a minimum delay with one request at a time, and falls by a fifth with every ten good responses in a row. It grows and falls multiplicatively, unlike the additive recovery of TCP (RFC 5681, section 3.1), since the rate at which a site starts to refuse is seldom near. 403 slows the host down too, but only from the fifth URL in a row on, and up to a minute.
//   - After Breaker.Failures failures in a row the host gets one probe, after Wait, and twice as long after each failed probe. A response, even a refusal, closes the breaker. Requests in flight when it opened are not probes.
//   - No request starts outside Hours.
//   - Limit is at least 1, and Earliest is never further ahead than the longest wait that the rules allow, plus the time until Hours open.
//
// A wait counts from the end of a response. The rules at the time of the call to Earliest bound it
// from below and above: a shorter cap or a longer delay in a changed spec applies at once.
//
// The clock: waits are as accurate as the clock. It must not be the time of day, which people and
// NTP set. It must only move forward, by no more than the elapsed time, even when the State changes
// its owner. [Rules].Ahead converts it to the time of day, for Hours. A future time in the State
// counts as now, so a wait may begin again but is never cut short; [State.Bound] makes that
// permanent.
//
// The smoothed response time is an exponentially weighted moving average with gain 1/8 whose first
// sample is taken unweighted, as TCP smooths its round-trip time (RFC 6298, section 2). Heritrix
// also waits a multiple of it (delayFactor). Crawl-delay is not a standard: RFC 9309 omits it, but
// sites use it.
package politeness

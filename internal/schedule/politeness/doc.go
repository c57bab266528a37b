// Package politeness decides when one host may be asked again, and by how many
// requests at once. A host may stand for a group of them, such as a domain.
//
// It is a state machine without clock, input or output: the caller stores a
// [State] with each host, says when a request starts ([State.Begin]) and how it
// ended ([State.End]), and asks when the next may start ([State.Earliest]) and
// how many may be in flight ([State.Limit]). Times are nanoseconds of the
// caller's clock: see below. A State has 72 bytes; stored, it takes two when nothing is
// known yet, and about 25 in use. None of its methods allocates. It is not safe for concurrent use.
//
// What holds if the caller starts no request before Earliest and none beyond
// Limit, whatever the outcomes:
//
//   - The next request starts no sooner than the delay after the end of a
//     response, and one is in progress at once where there is a delay. The delay is
//     at least [Rules].Delay, the Crawl-delay of robots.txt and a multiple of
//     the smoothed response time, the last two bounded by MaxDelay.
//   - Requests start no closer to each other than Interval.
//   - After 429 and 503 the host is left alone for as long as Retry-After asks
//     (RFC 9110, section 10.2.3; RFC 6585, section 4), up to MaxRetryAfter, and
//     for twice as long as before in any case. That slowdown stays, as a least
//     delay with one request at once, until answers are good again: it falls by a
//     fifth with every ten in a row. It grows and falls multiplicatively, unlike
//     the additive recovery of TCP (RFC 5681, section 3.1), since the rate at
//     which a site starts to refuse is seldom near. 403 slows the host down too, but
//     only from the fifth URL in a row on, and up to a minute.
//   - After Breaker.Failures failures in a row the host gets one probe, after
//     Wait, and twice as long after each that fails. An answer, be it a refusal,
//     closes the breaker; requests that were in flight when it opened are no
//     probes.
//   - No request starts outside Hours.
//   - Limit is at least 1, and Earliest is never further ahead than the longest
//     wait that the rules allow, and the time until Hours open.
//
// A wait is counted from the end of a response, and the rules in force when
// Earliest is asked bound it from below and above: a shorter cap or a longer
// delay in a changed spec applies at once.
//
// The clock: waits are as exact as it is. It must not be the time of day, which
// people and NTP set, but one that only goes forward, by no more than what has
// passed, also when the State has another owner; what [Rules].Ahead adds to it is the time of
// day, for Hours. A time in the State that lies ahead of it counts as now, so a
// wait may begin again and is never cut short; [State.Bound] makes that last.
//
// The smoothed response time is an exponentially weighted moving average with
// the gain 1/8 and the first sample taken as it is, as TCP smooths its round-trip
// time (RFC 6298, section 2). To wait a multiple of it is what Heritrix does
// (delayFactor).
// Crawl-delay is no standard: RFC 9309 leaves it out, but sites write it.
package politeness

package politeness

import (
	"cmp"
	"math"
	"time"
)

// DefaultMaxRetryAfter limits Retry-After unless Rules set a limit.
const DefaultMaxRetryAfter = 24 * time.Hour

// Rules are a crawl's rules for one host. The zero value allows one request at a time, and limits
// Retry-After to a day.
type Rules struct {
	// Delay is the minimum time from the end of a response to the next request. It implies one
	// request at a time.
	Delay time.Duration
	// Interval is the minimum time between the starts of two requests.
	Interval time.Duration
	// PerHost is the maximum number of requests in flight if there is no delay; at least 1.
	PerHost int
	// Factor makes the delay at least this multiple of the smoothed response time. 0 turns that
	// off, and so does a Delay of 0.
	Factor float64
	// MaxDelay limits the delay that results from Crawl-delay and Factor. It does not limit Delay:
	// with a MaxDelay of 0, nothing is ever added to that.
	MaxDelay time.Duration
	// Jitter, from 0 to 1, is the maximum part that is randomly added to a delay, a slowdown and
	// the wait of the breaker, beyond their limits. Retry-After has no jitter.
	Jitter float64
	// CrawlDelay reports whether the Crawl-delay of robots.txt is obeyed.
	CrawlDelay bool
	// Hours are when the host may be sent requests.
	Hours Hours
	// Ahead is the difference between the time of day, which Hours use, and the caller's clock, as
	// Unix time in nanoseconds.
	Ahead time.Duration
	// Breaker configures when requests to a failing host stop.
	Breaker Breaker
	// MaxRetryAfter limits Retry-After; 0 means DefaultMaxRetryAfter.
	MaxRetryAfter time.Duration
}

// Breaker opens after Failures failures in a row; 0 turns it off. The first probe may start after
// Wait, and each failed probe doubles the wait, up to MaxWait. After Probes failed probes the host
// is abandoned; 0 means never.
type Breaker struct {
	Failures      int
	Wait, MaxWait time.Duration
	Probes        int
}

// Strictest returns rules under which a host waits at least as long as under a and under b, for two
// crawls that share the host. Its Hours are the intersection of both; both must have the same
// Ahead. If the intersection is empty the host gets no request at all, so a caller that knows the
// crawl of a request should set Hours to those of that crawl.
func Strictest(a, b Rules) Rules {
	return Rules{
		Delay:         max(a.Delay, b.Delay),
		Interval:      max(a.Interval, b.Interval),
		PerHost:       max(1, min(a.PerHost, b.PerHost)),
		Factor:        max(a.Factor, b.Factor),
		MaxDelay:      max(a.MaxDelay, b.MaxDelay),
		Jitter:        max(a.Jitter, b.Jitter),
		CrawlDelay:    a.CrawlDelay || b.CrawlDelay,
		Hours:         a.Hours.common(b.Hours),
		Ahead:         a.Ahead,
		Breaker:       strictestBreaker(a.Breaker, b.Breaker),
		MaxRetryAfter: max(a.maxRetryAfter(), b.maxRetryAfter()),
	}
}

func strictestBreaker(a, b Breaker) Breaker {
	switch {
	case a.Failures <= 0:
		return b
	case b.Failures <= 0:
		return a
	}
	return Breaker{
		Failures: min(a.Failures, b.Failures),
		Wait:     max(a.Wait, b.Wait),
		MaxWait:  max(a.MaxWait, b.MaxWait),
		Probes:   fewest(a.Probes, b.Probes),
	}
}

// fewest returns the smaller number; 0 means no limit.
func fewest(a, b int) int {
	if a <= 0 || b <= 0 {
		return max(a, b)
	}
	return min(a, b)
}

func (r *Rules) maxRetryAfter() time.Duration {
	return cmp.Or(max(0, r.MaxRetryAfter), DefaultMaxRetryAfter)
}

// ordinary returns the delay of a host that does not refuse.
func (r *Rules) ordinary(crawlDelay, smoothed time.Duration) time.Duration {
	extra := time.Duration(0)
	if r.CrawlDelay {
		extra = crawlDelay
	}
	if r.Delay > 0 {
		extra = max(extra, times(smoothed, r.Factor))
	}
	return max(0, r.Delay, min(r.MaxDelay, extra))
}

// jittered adds a part of d that is determined by the seed.
func (r *Rules) jittered(d time.Duration, seed uint64) time.Duration {
	part := float64(mix(seed)>>11) / (1 << 53) // in [0, 1)
	return plus(d, times(d, r.jitter()*part))
}

// mostJittered returns the upper bound of jittered.
func (r *Rules) mostJittered(d time.Duration) time.Duration {
	return plus(d, times(d, r.jitter()))
}

func (r *Rules) jitter() float64 {
	if math.IsNaN(r.Jitter) {
		return 0
	}
	return min(1, max(0, r.Jitter))
}

// wait returns how long an open breaker waits before its next probe.
func (b *Breaker) wait(failedProbes uint32) time.Duration {
	if failedProbes > 62 || b.Wait > b.longest()>>failedProbes {
		return b.longest()
	}
	return max(0, b.Wait) << failedProbes
}

func (b *Breaker) longest() time.Duration { return max(0, b.Wait, b.MaxWait) }

// mix spreads a seed over 64 bits with the output function of SplitMix64 (Steele, Lea and Flood:
// Fast splittable pseudorandom number generators, 2014).
func mix(x uint64) uint64 {
	x += 0x9E3779B97F4A7C15
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

// times multiplies without overflow; f may be any value.
func times(d time.Duration, f float64) time.Duration {
	switch p := float64(d) * f; {
	case !(p > 0):
		return 0
	case p >= math.MaxInt64:
		return math.MaxInt64
	default:
		return time.Duration(p)
	}
}

// shift adds without overflow.
func shift(t int64, d time.Duration) int64 {
	if d < 0 {
		return max(t, math.MinInt64-int64(d)) + int64(d)
	}
	return plus(t, d)
}

// plus adds without overflow; d must not be negative.
func plus[T ~int64](t T, d time.Duration) T {
	if t > math.MaxInt64-T(d) {
		return math.MaxInt64
	}
	return t + T(d)
}

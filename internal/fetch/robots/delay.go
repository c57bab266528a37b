package robots

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"seine/internal/base/ascii"
	"seine/internal/base/lazyregexp"
)

// MaxCrawlDelay limits the Crawl-delay; a longer delay counts as this one. A crawler that waits a
// day between fetches has abandoned the host, and a caller may set a lower limit.
const MaxCrawlDelay = 24 * time.Hour

// duration matches a number, with a point or a comma, and its unit.
var duration = lazyregexp.New(`(?i)([0-9]*[.,]?[0-9]+(?:e[0-9]+)?)[^a-z0-9]*(ms|milli|m|h|d|)`)

var units = map[string]time.Duration{"ms": time.Millisecond, "milli": time.Millisecond, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour, "": time.Second}

// parseDelay parses a time in seconds, or in the unit after it, as in "10", "2,5" and "3 seconds".
// The longest of several counts. A negative number is not a delay.
func parseDelay(s string) (longest time.Duration, ok bool) {
	if strings.HasPrefix(s, "-") {
		return 0, false
	}
	for _, m := range duration().FindAllStringSubmatch(strings.Map(ascii.Plain, s), 16) {
		n, _ := strconv.ParseFloat(strings.Replace(m[1], ",", ".", 1), 64) // infinite if out of range
		longest, ok = max(longest, time.Duration(min(n*float64(units[strings.ToLower(m[2])]), float64(MaxCrawlDelay)))), true
	}
	return longest, ok
}

// rate matches a number of requests and a time for them, which may be only a unit. Hours of the day
// after it are ignored.
var rate = lazyregexp.New(`(?i)^([0-9.]+)[ a-z]*?(?:/|:| per ) *([0-9.]*) *([a-z]*)`)

// parseRate parses requests per time, as in "1/3", "30/1m" and "1 per minute", and returns the time
// per request.
func parseRate(s string) (time.Duration, bool) {
	m := rate().FindStringSubmatch(s)
	if m == nil || m[2]+m[3] == "" {
		return 0, false
	}
	n, _ := strconv.ParseFloat(m[1], 64)
	d, ok := parseDelay(cmp.Or(m[2], "1") + m[3])
	return time.Duration(min(float64(d)/n, float64(MaxCrawlDelay))), ok && n > 0
}

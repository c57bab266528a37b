package robots

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"seine/internal/base/ascii"
	"seine/internal/base/lazyregexp"
)

// MaxCrawlDelay bounds what a Crawl-delay line may ask for; a longer delay,
// however long, counts as this one. A crawler that waits a day between fetches
// has abandoned the host, and a caller may set a lower bound.
const MaxCrawlDelay = 24 * time.Hour

// duration is a number, with a point or a comma, and its unit.
var duration = lazyregexp.New(`(?i)([0-9]*[.,]?[0-9]+(?:e[0-9]+)?)[^a-z0-9]*(ms|milli|m|h|d|)`)

var units = map[string]time.Duration{"ms": time.Millisecond, "milli": time.Millisecond, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour, "": time.Second}

// parseDelay reads a time in seconds, or in the unit behind it, as in "10", "2,5" and "3 seconds". Of several the
// longest counts. A negative number is not a delay.
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

// rate is a number of requests, and the time for them, which may be a unit alone. Hours of the day behind it do not matter.
var rate = lazyregexp.New(`(?i)^([0-9.]+)[ a-z]*?(?:/|:| per ) *([0-9.]*) *([a-z]*)`)

// parseRate reads requests in a time, as in "1/3", "30/1m" and "1 per minute", as the time for each.
func parseRate(s string) (time.Duration, bool) {
	m := rate().FindStringSubmatch(s)
	if m == nil || m[2]+m[3] == "" {
		return 0, false
	}
	n, _ := strconv.ParseFloat(m[1], 64)
	d, ok := parseDelay(cmp.Or(m[2], "1") + m[3])
	return time.Duration(min(float64(d)/n, float64(MaxCrawlDelay))), ok && n > 0
}

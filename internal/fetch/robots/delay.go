package robots

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// MaxCrawlDelay bounds what a Crawl-delay line may ask for; a longer delay,
// however long, counts as this one. A crawler that waits a day between fetches
// has given the host up, and a caller may well set a lower bound of its own.
const MaxCrawlDelay = 24 * time.Hour

// duration is a number, with a point or a comma, and its unit.
var duration = regexp.MustCompile(`(?i)([0-9]*[.,]?[0-9]+(?:e[0-9]+)?)[^a-z0-9]*(ms|milli|m|h|d|)`)

var units = map[string]time.Duration{"ms": time.Millisecond, "milli": time.Millisecond, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour, "": time.Second}

// parseDelay reads a time in seconds, or in the unit behind it, as in "10", "2,5" and "3 seconds". Of several the
// longest counts. What is below zero is refused.
func parseDelay(s string) (longest time.Duration, ok bool) {
	if strings.HasPrefix(s, "-") {
		return 0, false
	}
	for _, m := range duration.FindAllStringSubmatch(s, 16) {
		n, _ := strconv.ParseFloat(strings.Replace(m[1], ",", ".", 1), 64) // infinite if out of range
		longest, ok = max(longest, time.Duration(min(n*float64(units[strings.ToLower(m[2])]), float64(MaxCrawlDelay)))), true
	}
	return longest, ok
}

// parseRate reads requests in a time, as in "1/3" and "30/1m", as the time for each. Hours of the day behind it do not matter.
func parseRate(s string) (time.Duration, bool) {
	requests, each, _ := strings.Cut(s, "/")
	n, err := strconv.ParseUint(strings.TrimSpace(requests), 10, 32)
	words := strings.Fields(each)
	if err != nil || n == 0 || len(words) == 0 {
		return 0, false
	}
	d, ok := parseDelay(words[0])
	return d / time.Duration(n), ok
}

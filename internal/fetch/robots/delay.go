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

// duration is a number with or without its unit. A comma before three digits parts thousands, any other decimals.
var duration = regexp.MustCompile(`(?i)([0-9]{1,3}(?:,[0-9]{3})+|[0-9]*[.,]?[0-9]+(?:e[0-9]+)?)(?:[^a-z0-9]*(ms|msec|milli|m|min|h|hour|hr|d|day)[a-z]*)?`)

var units = map[string]time.Duration{
	"ms": time.Millisecond, "msec": time.Millisecond, "milli": time.Millisecond, "m": time.Minute, "min": time.Minute,
	"h": time.Hour, "hour": time.Hour, "hr": time.Hour, "d": 24 * time.Hour, "day": 24 * time.Hour,
}

// parseDelay reads a time in seconds, or in the unit behind it, as in "10", "0.5", "2,5" and "3 seconds". Of several
// the longest counts. What is below zero is refused.
func parseDelay(s string) (longest time.Duration, ok bool) {
	if strings.HasPrefix(s, "-") || strings.HasPrefix(s, "−") {
		return 0, false
	}
	for _, m := range duration.FindAllStringSubmatch(s, 16) {
		longest, ok = max(longest, inUnits(m[1], m[2])), true
	}
	return longest, ok
}

func inUnits(number, unit string) time.Duration {
	if strings.LastIndexByte(number, ',') == len(number)-4 && !strings.HasPrefix(number, "0,") {
		number = strings.ReplaceAll(number, ",", "")
	}
	n, _ := strconv.ParseFloat(strings.Replace(number, ",", ".", 1), 64) // infinite if out of range
	size, known := units[strings.ToLower(unit)]
	if !known {
		size = time.Second
	}
	if n*float64(size) >= float64(MaxCrawlDelay) {
		return MaxCrawlDelay
	}
	return time.Duration(n * float64(size))
}

// parseRate reads requests in a time, as in "1/3" and "30/1m", as the time for each. The hours of the day that may
// stand behind it do not matter.
func parseRate(s string) (time.Duration, bool) {
	requests, each, ok := strings.Cut(s, "/")
	n, err := strconv.ParseUint(strings.TrimSpace(requests), 10, 32)
	words := strings.Fields(each)
	if !ok || err != nil || n == 0 || len(words) == 0 {
		return 0, false
	}
	d, ok := parseDelay(words[0])
	return d / time.Duration(n), ok
}

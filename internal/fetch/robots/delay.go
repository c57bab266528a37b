package robots

import (
	"strconv"
	"strings"
	"time"
)

// MaxCrawlDelay bounds what a Crawl-delay line may ask for; a longer delay,
// however long, counts as this one. A crawler that waits a day between fetches
// has given the host up, and a caller may well set a lower bound of its own.
const MaxCrawlDelay = 24 * time.Hour

// parseDelay reads a number of seconds in plain decimal, as in "10" or "0.5".
// Signs, exponents, units, infinities and NaN are refused.
func parseDelay(s string) (time.Duration, bool) {
	if s == "" || strings.Trim(s, "0123456789.") != "" {
		return 0, false
	}
	seconds, err := strconv.ParseFloat(s, 64)
	if seconds > MaxCrawlDelay.Seconds() {
		return MaxCrawlDelay, true // includes the infinity of a range error
	}
	if err != nil {
		return 0, false
	}
	return time.Duration(seconds * float64(time.Second)), true
}

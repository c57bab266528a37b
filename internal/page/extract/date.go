package extract

import (
	"strconv"
	"strings"
	"time"

	"seine/internal/base/dates"
)

// parseDate returns a date as RFC 3339 has it: a date and time with its offset,
// or the date alone ("full-date") where no time is written.
func parseDate(text string, own []string, zone *time.Location) (string, bool) {
	if len(text) > dates.MaxText {
		return "", false
	}
	for _, layout := range own {
		if t, err := time.ParseInLocation(layout, text, zone); err == nil {
			return formatDate(t, hasClock(layout))
		}
	}
	if t, clock, ok := dates.Parse(text, zone); ok {
		return formatDate(t, clock)
	}
	if len(text) == 10 || len(text) == 13 { // seconds of this era, or milliseconds
		return dateOfNumber(text)
	}
	return "", false
}

func hasClock(layout string) bool {
	return strings.Contains(layout, "15") || strings.Contains(layout, "3:04") || strings.Contains(layout, "03:04") ||
		strings.Contains(layout, "3 PM") || strings.Contains(layout, "3PM")
}

func formatDate(t time.Time, clock bool) (string, bool) {
	if y := t.Year(); y < 1 || y > 9999 { // which RFC 3339 cannot say
		return "", false
	}
	if !clock {
		return t.Format(time.DateOnly), true
	}
	return t.Format(time.RFC3339Nano), true
}

// dateOfNumber takes a number for seconds, or milliseconds, since 1970.
func dateOfNumber(text string) (string, bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return "", false
	}
	const millisFrom = 100_000_000_000 // as seconds, the year 5138
	t := time.Unix(n, 0)
	if n >= millisFrom {
		t = time.UnixMilli(n)
	}
	return formatDate(t.UTC(), true)
}

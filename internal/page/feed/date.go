package feed

import (
	"strings"
	"time"

	"seine/internal/base/dates"
)

// date reads a date and time; zero if it is none. Without a zone it is UTC.
func date(text string) time.Time {
	text = strings.TrimSpace(text)
	if t, _, ok := dates.Parse(text, time.UTC); ok && t.Year() > 0 {
		return t.UTC()
	}
	for _, layout := range [...]string{"2006-01", "2006"} { // of the W3C profile of ISO 8601
		if t, err := time.Parse(layout, text); err == nil && t.Year() > 0 {
			return t
		}
	}
	return time.Time{}
}

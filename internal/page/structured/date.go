package structured

import (
	"time"

	"seine/internal/base/dates"
)

// normalDate returns a date or time in the form of RFC 3339: a full-date where
// there is no time or no offset, and otherwise a date-time with the offset as
// written. It is empty where the text is not a date with one meaning, or where it is a
// default of software: the year 1, or before there were calendars to declare it in.
func normalDate(s string) string {
	d, ok := dates.Parse(fold(s), time.UTC)
	if !ok || d.Time.Year() < 1000 {
		return ""
	}
	d.Clock = d.Clock && d.Zoned
	return d.String()
}

package robots

import (
	"strings"
	"time"

	"seine/internal/base/dates"
)

const weekdays = " SUN MON TUE WED THU FRI SAT "

// cutDate cuts a date off a list, without its day of the week. The comma behind
// that day is the only one that does not end the date.
func cutDate(list string) (date, rest string) {
	date, rest, _ = strings.Cut(list, ",")
	if isWeekday(strings.Trim(date, spaces)) {
		date, rest, _ = strings.Cut(rest, ",")
	}
	return strings.Trim(date, spaces), rest
}

// isWeekday knows a day by its first three letters: RFC 850 writes it in full.
func isWeekday(s string) bool {
	return len(s) >= 3 && strings.Contains(weekdays, " "+strings.ToUpper(s[:3])+" ")
}

// parseDate reads a date, in UTC where it has no zone. Google names those of RFC 822,
// RFC 850 and ISO 8601.
func parseDate(s string) (time.Time, bool) {
	d, ok := dates.Parse(s, time.UTC)
	return d.Time, ok
}

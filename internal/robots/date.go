package robots

import (
	"strings"
	"time"
)

// maxDate bounds the text that is tried as a date. The longest that can be one
// has about 40 octets.
const maxDate = 64

// The dates that Google names for unavailable_after are those of RFC 822, RFC 850
// and ISO 8601. Sites mix them, so each day goes with each time. A date without
// zone is UTC, one without time is midnight.
var (
	dayLayouts = []string{"2006 01 02", "2 Jan 2006", "2 Jan 06"}
	// clockLayouts is by the number of colons.
	clockLayouts = map[int]string{1: "15:04", 2: "15:04:05"}
)

// zones are the names of RFC 822 section 5.1, which package time takes for
// zones of an unknown offset, zero.
var zones = map[string]string{
	"UT": "+0000", "UTC": "+0000", "GMT": "+0000", "Z": "+0000",
	"EST": "-0500", "EDT": "-0400", "CST": "-0600", "CDT": "-0500",
	"MST": "-0700", "MDT": "-0600", "PST": "-0800", "PDT": "-0700",
}

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

// parseDate takes the text apart first: trying every day with every time and
// zone would let a page full of dates cost seconds.
func parseDate(s string) (time.Time, bool) {
	if len(s) > maxDate {
		return time.Time{}, false
	}
	day, clock, zone := splitDate(strings.ToUpper(s))
	for _, layout := range dayLayouts {
		layout += " " + clockLayouts[strings.Count(clock, ":")] + "-0700"
		if t, err := time.Parse(layout, day+" "+clock+zone); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// splitDate returns a day with spaces, a time, and the offset of its zone.
func splitDate(s string) (day, clock, zone string) {
	clock, zone = "00:00", "+0000"
	if colon := strings.IndexByte(s, ':'); colon >= 0 {
		hour := len(strings.TrimRight(s[:colon], "0123456789"))
		s, clock = s[:hour], s[hour:]
	}
	if rest := strings.TrimLeft(clock, "0123456789:."); rest != "" {
		clock, zone = strings.TrimSuffix(clock, rest), zoneOffset(strings.Trim(rest, spaces))
	}
	return strings.ReplaceAll(strings.TrimRight(s, "T "), "-", " "), clock, zone
}

func zoneOffset(zone string) string {
	if offset, ok := zones[zone]; ok {
		return offset
	}
	return strings.ReplaceAll(zone, ":", "")
}

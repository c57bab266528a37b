package extract

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// layouts of dates as they are written, with white space folded, names of days
// and ordinals taken out, and months short. Days before months, and months
// before days, only where the month is a name; with points, the day is first
// everywhere. Slashes are ambiguous: they need a layout of the spec.
var layouts = []struct {
	layout string
	clock  bool // it says the time of day
}{
	{time.RFC3339Nano, true}, {"2006-01-02T15:04Z07:00", true}, {"2006-01-02T15:04:05.999999999", true}, {"2006-01-02T15:04", true},
	{"2006-01-02T15:04:05.999999999Z0700", true}, {"20060102T150405Z0700", true}, {"20060102T150405", true},
	{"2006-01-02 15:04:05.999999999Z07:00", true}, {"2006-01-02 15:04:05.999999999 Z0700", true},
	{"2006-01-02 15:04:05.999999999", true}, {"2006-01-02 15:04", true}, {"2006-01-02", false}, {"20060102", false},
	{"2006-01-02 15:04 Z0700", true}, {"2006-01-02T15:04:05 Z0700", true},
	{"2006/1/2 15:04:05", true}, {"2006/1/2 15:04", true}, {"2006/1/2", false},
	{"2.1.2006 15:04:05", true}, {"2.1.2006 15:04", true}, {"2.1.2006", false},
	{"2 Jan 2006 15:04:05 -0700", true}, {"2 Jan 2006 15:04:05", true}, {"2 Jan 2006 15:04 -0700", true}, {"2 Jan 2006 15:04", true},
	{"2 Jan 2006 3:04 PM", true}, {"2 Jan 2006 3:04PM", true}, {"2 Jan 2006", false}, {"2-Jan-2006", false},
	{"2-Jan-06 15:04:05 -0700", true}, {"2-Jan-2006 15:04:05 -0700", true}, {"2-Jan-2006 15:04:05", true}, {"2-Jan-2006 15:04", true},
	{"Jan 2 2006 15:04:05 -0700", true}, {"Jan 2 2006 15:04:05", true}, {"Jan 2 2006 15:04", true}, {"Jan 2 2006 3:04 PM -0700", true},
	{"Jan 2 2006 3:04 PM", true}, {"Jan 2 2006 3:04PM", true}, {"Jan 2 2006 3 PM", true}, {"Jan 2 2006 3 PM -0700", true}, {"Jan 2 2006", false}, {"Jan 2 2006 15:04:05 GMT-0700", true},
	{"Jan 2 15:04:05 2006", true}, {"Jan 2 15:04:05 -0700 2006", true}, {"2006 Jan 2", false},
}

var (
	dayNames = regexp.MustCompile(`(?i)\b(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\b[.,]?`)
	months   = regexp.MustCompile(`(?i)\b(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)(?:uary|ruary|ch|il|e|y|ust|t|tember|ober|ember)?\b\.?`)
	ordinals = regexp.MustCompile(`(?i)\b(\d{1,2})(?:st|nd|rd|th)\b`)
	halves   = regexp.MustCompile(`(?i)\b(\d{1,2}(?::\d{2}){0,2}) ?([ap])\.?m\b\.?`)
	zones    = regexp.MustCompile(`\b(GMT|UTC|UT|EST|EDT|CST|CDT|MST|MDT|PST|PDT|CET|CEST|Z)$`)
	filler   = regexp.MustCompile(`(?i),|\bat\b|\bon\b|\bof\b|\bthe\b|\([a-z ]+\)$`)
)

// offsets of zones with a name: those of RFC 5322 section 4.3, and Central
// European Time. Others are ambiguous.
var offsets = map[string]string{
	"GMT": "+0000", "UTC": "+0000", "UT": "+0000", "Z": "+0000", "EST": "-0500", "EDT": "-0400", "CST": "-0600", "CDT": "-0500",
	"MST": "-0700", "MDT": "-0600", "PST": "-0800", "PDT": "-0700", "CET": "+0100", "CEST": "+0200",
}

// maxDate is how long a text may be that is a date.
const maxDate = 100

// parseDate returns a date as RFC 3339 has it: a date and time with its offset,
// or the date alone ("full-date") where no time is written.
func parseDate(text string, own []string, zone *time.Location) (string, bool) {
	if len(text) > maxDate {
		return "", false
	}
	for _, layout := range own {
		if t, err := time.ParseInLocation(layout, text, zone); err == nil {
			return formatDate(t, hasClock(layout))
		}
	}
	clean := cleanDate(text)
	for _, l := range layouts {
		for _, s := range [...]string{text, clean} {
			if t, err := time.ParseInLocation(l.layout, s, zone); err == nil {
				return formatDate(t, l.clock)
			}
		}
	}
	if len(text) == 10 || len(text) == 13 { // seconds of this era, or milliseconds
		return dateOfNumber(text)
	}
	return "", false
}

func cleanDate(s string) string {
	s = dayNames.ReplaceAllString(s, " ")
	s = filler.ReplaceAllString(s, " ")
	s = months.ReplaceAllStringFunc(s, func(m string) string { return strings.ToUpper(m[:1]) + strings.ToLower(m[1:3]) })
	s = ordinals.ReplaceAllString(s, "$1")
	s = halves.ReplaceAllStringFunc(s, func(m string) string {
		parts := halves.FindStringSubmatch(m)
		return parts[1] + " " + strings.ToUpper(parts[2]) + "M"
	})
	s = strings.Join(strings.Fields(s), " ")
	return zones.ReplaceAllStringFunc(s, func(z string) string { return offsets[z] })
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

// Package dates reads dates and times as people and programs write them in English or
// in digits: ISO 8601 and its profiles, RFC 5322 and RFC 850, what JavaScript, SQL and
// C print, and prose such as "Monday, 2nd of January 2006 at 3:04 p.m. EST".
//
// A text is taken apart into a day, a time of day and a zone, each of which may be in
// any of its forms. Days before months, and months before days, only where the month is
// a name; with points, the day is first everywhere. With slashes the year must be first:
// 1/2/2006 is two different days.
package dates

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// MaxText is how long a text may be that is a date, in bytes.
const MaxText = 100

// Parse reads a date; false says that the text is none. Without a zone it is in the one
// given. clock says that the time of day was written; without, it is midnight.
func Parse(text string, zone *time.Location) (t time.Time, clock, ok bool) {
	if len(text) > MaxText {
		return time.Time{}, false, false
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil { // most are so
		return t, true, true
	}
	text = basic.ReplaceAllString(strings.TrimSpace(text), "$1-$2-$3 $4:$5:$6")
	day, hour, offset := split(fold(text))
	for _, d := range days {
		layout, value := d, day
		if hour != "" {
			layout, value = layout+" 15:04:05", value+" "+hour
		}
		if offset != "" {
			layout, value = layout+" -0700", value+" "+offset
		}
		if t, err := time.ParseInLocation(layout, value, zone); err == nil {
			return t, hour != "", true
		}
	}
	return time.Time{}, false, false
}

// days are the forms of a day, with names of days and ordinals taken out and months short.
var days = []string{
	"2006-01-02", "2 Jan 2006", "Jan 2 2006", "2.1.2006", "2006/1/2", "2-Jan-2006", "2 Jan 06", "2-Jan-06", "2006 Jan 2", "20060102",
}

var (
	basic    = regexp.MustCompile(`^(\d{4})(\d{2})(\d{2})[Tt](\d{2})(\d{2})(\d{2})`)
	dayNames = regexp.MustCompile(`(?i)\b(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\b[.,]?`)
	months   = regexp.MustCompile(`(?i)\b(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)(?:uary|ruary|ch|il|e|y|ust|t|tember|ober|ember)?\b\.?`)
	ordinals = regexp.MustCompile(`(?i)\b(\d{1,2})(?:st|nd|rd|th)\b`)
	filler   = regexp.MustCompile(`(?i),|\bat\b|\bon\b|\bof\b|\bthe\b|\([a-z ]+\)$`)
)

// fold leaves out what says nothing, and shortens months.
func fold(s string) string {
	s = dayNames.ReplaceAllString(s, " ")
	s = filler.ReplaceAllString(s, " ")
	s = months.ReplaceAllStringFunc(s, func(m string) string { return strings.ToUpper(m[:1]) + strings.ToLower(m[1:3]) })
	s = ordinals.ReplaceAllString(s, "$1")
	return strings.Join(strings.Fields(s), " ")
}

// clockText is a time of day, behind the "T" of ISO 8601 or a space, with its zone: the
// hour, minutes, seconds, half of the day (twice, with minutes and without) and zone.
var clockText = regexp.MustCompile(`(?i)(?:t| |^)(\d{1,2})(?:(:\d{2})(:\d{2}(?:\.\d{1,9})?)?(?: ?([ap])\.?m\b\.?)?| ?([ap])\.?m\b\.?)` +
	` ?((?:gmt|utc)?[-+]\d{2}(?::?\d{2})?|[a-z]{1,5})?(?: |$)`)

// split takes a text apart. hour is as in "15:04:05", offset as in "-0700", each "" where
// it is not written.
func split(s string) (day, hour, offset string) {
	m := clockText.FindStringSubmatch(s)
	if m == nil {
		return s, "", ""
	}
	offset, ok := offsetOf(m[6])
	if !ok {
		return s, "", ""
	}
	before, after, _ := strings.Cut(s, m[0])
	return strings.TrimSpace(before + " " + after), twentyFour(m[1], m[4]+m[5]) + cmp.Or(m[2], ":00") + cmp.Or(m[3], ":00"), offset
}

// twentyFour returns an hour of a day of 24; one that there is not stays, and is refused.
func twentyFour(hour, half string) string {
	n, _ := strconv.Atoi(hour) // one or two digits
	switch {
	case half == "":
	case n == 0 || n > 12:
		n = 99
	case strings.EqualFold(half, "p"):
		n = n%12 + 12
	default:
		n %= 12
	}
	return fmt.Sprintf("%02d", n)
}

// offsets of zones with a name: those of RFC 5322 section 4.3, and others that feeds and
// pages have. Of names that stand for several, the one that is most common on the web.
var offsets = map[string]string{
	"": "", "Z": "+0000", "UT": "+0000", "UTC": "+0000", "GMT": "+0000", "WET": "+0000",
	"EST": "-0500", "EDT": "-0400", "CST": "-0600", "CDT": "-0500",
	"MST": "-0700", "MDT": "-0600", "PST": "-0800", "PDT": "-0700",
	"BST": "+0100", "CET": "+0100", "MEZ": "+0100", "CEST": "+0200", "MESZ": "+0200",
	"EET": "+0200", "EEST": "+0300", "MSK": "+0300", "IST": "+0530", "JST": "+0900", "KST": "+0900",
	"AEST": "+1000", "AEDT": "+1100",
}

// offsetOf returns a zone as in "-0700"; false says that it is none.
func offsetOf(zone string) (string, bool) {
	zone = strings.ToUpper(zone)
	if offset, ok := offsets[zone]; ok {
		return offset, true
	}
	digits := strings.ReplaceAll(strings.TrimPrefix(strings.TrimPrefix(zone, "GMT"), "UTC"), ":", "")
	if !strings.HasPrefix(digits, "+") && !strings.HasPrefix(digits, "-") {
		return "", false
	}
	if len(digits) == len("+00") {
		digits += "00"
	}
	return digits, true
}

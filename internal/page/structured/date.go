package structured

import (
	"strings"
	"time"
)

// Layouts in which a page's dates are read. Those with names of days and months
// are of RFC 5322, RFC 850 and of HTTP, and as people write them.
var (
	instantLayouts = []string{
		"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05Z07",
		"2006-01-02T15:04Z07:00", "2006-01-02T15:04Z0700",
		"20060102T150405Z0700",
		"Mon, 2 Jan 2006 15:04:05 -0700", "2 Jan 2006 15:04:05 -0700",
		"Mon Jan 2 2006 15:04:05 -0700", "Mon Jan 2 15:04:05 -0700 2006",
	}
	// Of a time without an offset, only the date is known.
	localLayouts = []string{
		"2006-01-02", "2006-01-02T15:04:05", "2006-01-02T15:04",
		"20060102", "20060102T150405", "2006/01/02", "2006/1/2", "2006/01/02T15:04:05", "2006/01/02T15:04",
		"January 2, 2006", "Jan 2, 2006", "2 January 2006", "2 Jan 2006",
		"Monday, January 2, 2006", "Mon, 2 Jan 2006", "Mon, 2 Jan 2006 15:04:05", "2 Jan 2006 15:04:05",
		"January 2, 2006 15:04", "January 2, 2006 3:04 PM", "Jan 2, 2006 3:04 PM",
	}
)

// maxDate is the length of the longest date looked at, in bytes.
const maxDate = 80

// normalDate returns a date or time in the form of RFC 3339: a full-date where
// there is no time or no offset, and otherwise a date-time with the offset as
// written. It is empty where the text has no one meaning: 03/04/2025 is a day in
// March or in April, and "EST" is an hour in America or in Australia.
func normalDate(s string) string {
	s = fold(s)
	if s == "" || len(s) > maxDate {
		return ""
	}
	s = offsetForm(s)
	for _, layout := range instantLayouts {
		if t, err := time.Parse(layout, s); err == nil {
			return plausible(t, time.RFC3339Nano)
		}
	}
	for _, layout := range localLayouts {
		if t, err := time.Parse(layout, s); err == nil {
			return plausible(t, time.DateOnly)
		}
	}
	return ""
}

// offsetForm brings variants of the form of ISO 8601 to one, with a T and no
// space, and names of universal time to an offset.
func offsetForm(s string) string {
	for _, utc := range []string{" GMT", " UTC", " UT", " Z"} {
		if before, ok := strings.CutSuffix(s, utc); ok {
			s = before + " +0000"
			break
		}
	}
	if i := strings.Index(s, " GMT+"); i > 0 {
		s = s[:i+1] + s[i+len(" GMT"):] // as JavaScript's Date has it
	}
	if i := strings.IndexByte(s, '('); i > 0 {
		s = strings.TrimSpace(s[:i]) // the zone's name behind its offset
	}
	const date = len("2006-01-02")
	if len(s) <= date || s[0] < '0' || s[0] > '9' || s[date-3] != '-' && s[date-3] != '/' {
		return s
	}
	clock := strings.ReplaceAll(strings.TrimLeft(s[date:], "Tt "), " ", "")
	return s[:date] + "T" + strings.ToUpper(clock)
}

// plausible formats a time unless it is a default of software: the year 1, or
// before there were calendars to declare it in.
func plausible(t time.Time, layout string) string {
	if t.Year() < 1000 {
		return ""
	}
	return t.Format(layout)
}

package feed

import (
	"strings"
	"time"
)

// zones are those of RFC 822, section 5.1, and some that feeds have. Go's own reader
// takes a name it does not know for UTC.
var zones = map[string]string{
	"Z": "+0000", "UT": "+0000", "UTC": "+0000", "GMT": "+0000", "WET": "+0000",
	"EST": "-0500", "EDT": "-0400", "CST": "-0600", "CDT": "-0500",
	"MST": "-0700", "MDT": "-0600", "PST": "-0800", "PDT": "-0700",
	"BST": "+0100", "CET": "+0100", "MEZ": "+0100", "CEST": "+0200", "MESZ": "+0200",
	"EET": "+0200", "EEST": "+0300", "MSK": "+0300", "IST": "+0530", "JST": "+0900", "KST": "+0900",
	"AEST": "+1000", "AEDT": "+1100",
}

// layouts of dates: of RFC 3339 and the W3C profile of ISO 8601, of RFC 822 with its
// successors, and what programs write in their place. The day of the week is cut off
// before, zones are numbers.
var layouts = []string{
	time.RFC3339, "2006-01-02T15:04:05-0700", "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05", "2006-01-02T15:04",
	"2006-01-02 15:04:05 -0700", "2006-01-02 15:04:05-07:00", "2006-01-02 15:04:05", "2006-01-02 15:04", time.DateOnly, "2006-01", "2006",
	"2 Jan 2006 15:04:05 -0700", "2 Jan 2006 15:04 -0700", "2 Jan 06 15:04:05 -0700", "2 Jan 06 15:04 -0700",
	"2 Jan 2006 15:04:05 -07:00", "2 Jan 2006 15:04:05", "2 Jan 2006 15:04", "2 Jan 2006",
	"2 January 2006 15:04:05 -0700", "2 January 2006 15:04:05", "2 January 2006",
	"Jan 2 2006 15:04:05 -0700", "Jan 2 2006 15:04:05", "Jan 2 2006", "January 2 2006 15:04:05 -0700", "January 2 2006",
	"Jan 2 15:04:05 -0700 2006", "Jan 2 15:04:05 2006", "20060102T150405-0700", "20060102", "2006/01/02", "2006/01/02 15:04:05",
}

const maxDate = 64

// date reads a date and time; zero if it is none. Without a zone it is UTC.
func date(text string) time.Time {
	text = strings.TrimSpace(text)
	if text == "" || len(text) > maxDate {
		return time.Time{}
	}
	words := strings.Fields(strings.ReplaceAll(text, ", ", " "))
	if len(words) > 1 && weekday(words[0]) {
		words = words[1:]
	}
	for i := 1; i < len(words); i++ {
		words[i] = zone(words[i])
	}
	text = strings.Join(words, " ")
	for _, layout := range layouts {
		if t, err := time.Parse(layout, text); err == nil && t.Year() > 0 {
			return t.UTC()
		}
	}
	return time.Time{}
}

// zone returns a zone as a number: of a name, and of "GMT+0100".
func zone(name string) string {
	if z := zones[strings.ToUpper(name)]; z != "" {
		return z
	}
	for _, utc := range []string{"GMT", "UTC"} {
		if z, ok := strings.CutPrefix(name, utc); ok {
			return z
		}
	}
	return name
}

func weekday(word string) bool {
	word = strings.ToLower(strings.TrimRight(word, ".,"))
	for d := time.Sunday; d <= time.Saturday; d++ {
		if name := strings.ToLower(d.String()); len(word) >= 3 && strings.HasPrefix(name, word) {
			return true
		}
	}
	return false
}

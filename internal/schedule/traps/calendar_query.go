package traps

import (
	"strings"
	"time"
)

// meaning is what a parameter's name says of its value.
type meaning uint8

const (
	meansNothing meaning = iota
	meansRange           // an end of one, perhaps of dates
	meansDate
	meansYear
	meansMonth
)

// outInQuery looks at each parameter, and at the year and the month together.
func (c *calendar) outInQuery(query string) bool {
	var year, month int
	point := false // there is an x to the y
	for more := true; more; {
		var text string
		text, query, more = strings.Cut(query, "&")
		name, value, _ := strings.Cut(text, "=")
		if strings.EqualFold(name, "x") {
			point = true
		}
		switch m := meaningOf(name); m {
		case meansYear:
			if n, rest, ok := numberUpTo(value, 6); ok && rest == "" && len(value) >= 4 {
				year = n
				continue
			}
		case meansMonth:
			if n, rest, ok := numberUpTo(value, 2); ok && rest == "" && n <= 12 {
				month = n + 1 // some count from 0
				continue
			}
			if n := monthName(value); n != 0 {
				month = n
				continue
			}
		case meansNothing, meansRange, meansDate:
		}
		if c.outInValue(name, value) {
			return true
		}
	}
	return year != 0 && month != 0 && !point && c.out(date{year: year, ahead: true, past: true})
}

// outInValue takes a value as a date: a whole one under any name, and any form
// under a name that says so.
func (c *calendar) outInValue(name, value string) bool {
	says := meaningOf(name)
	year, hasDay, n := isoDate(value)
	ok := n != 0 && (hasDay && c.near(year) || says != meansNothing)
	if !ok && says != meansNothing {
		if year, ok = dayFirst(value); !ok {
			year, ok = monthAndYear(value)
		}
	}
	if !ok && says > meansRange {
		year, ok = compactDate(value)
		ok = ok && c.near(year)
	}
	if ok {
		return c.out(date{year: year, ahead: true, past: true})
	}
	if seconds, rest, ok := numberUpTo(value, 10); ok && says > meansRange && rest == "" && len(value) == 10 {
		return c.out(date{year: time.Unix(int64(seconds), 0).UTC().Year(), ahead: true})
	}
	return false
}

// dayFirst reads 12.5.2031, 5/12/2031 and 05-2031, also with escaped slashes.
func dayFirst(s string) (year int, ok bool) {
	for range 2 {
		n, rest, ok := numberUpTo(s, 2)
		if !ok || rest == "" || n < 1 || n > 31 {
			return 0, false
		}
		switch {
		case strings.IndexByte("-_./", rest[0]) >= 0:
			s = rest[1:]
		case len(rest) > 3 && strings.EqualFold(rest[:3], "%2f"):
			s = rest[3:]
		default:
			return 0, false
		}
		if year, rest, ok := number(s, 4); ok {
			return year, rest == ""
		}
	}
	return 0, false
}

// meaningOf reads a parameter's name: "year", "cal_month", "startDate",
// "filter[from]".
func meaningOf(name string) meaning {
	if len(name) > 64 {
		return meansNothing
	}
	found := meansNothing
	for i := 0; i < len(name); {
		if !isLetter(name[i]) {
			i++
			continue
		}
		j := i + 1
		for j < len(name) && isLetter(name[j]) && (name[j] >= 'a' || name[j-1] < 'a') {
			j++
		}
		if m := meaningOfWord(name[i:j]); m != meansNothing {
			found = m
		}
		i = j
	}
	return found
}

func meaningOfWord(word string) meaning {
	if len(word) > 12 {
		return meansNothing
	}
	var buf [12]byte
	for i := range len(word) {
		buf[i] = word[i] | 0x20
	}
	switch w := string(buf[:len(word)]); w {
	case "year", "yr", "y", "yyyy", "jahr", "annee", "calyear":
		return meansYear
	case "month", "mon", "mo", "m", "mm", "monat", "mois", "mes", "calmonth":
		return meansMonth
	case "from", "to", "start", "end", "begin", "until", "since", "after", "before":
		return meansRange
	case "date", "day", "week", "when", "cal", "dt", "ym", "ymd", "datum", "tag", "jour", "fecha", "dia", "calendar", "startdate",
		"enddate", "eventdate", "caldate", "fromdate", "todate", "yearmonth", "selecteddate", "time", "monthyear", "checkin",
		"checkout":
		return meansDate
	}
	return meansNothing
}

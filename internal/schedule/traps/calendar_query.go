package traps

import (
	"strings"
	"time"
)

// meaning is the meaning of a parameter according to its name.
type meaning uint8

const (
	meansNothing meaning = iota
	meansRange           // an end of a range, perhaps of dates
	meansDate
	meansYear
	meansMonth
	meansThing // the date of a thing, not of a calendar
)

// outInQuery checks each parameter, and the combination of year and month.
func (c *calendar) outInQuery(query string) bool {
	year, month := 0, false
	point := false // an x accompanies the y
	for more := true; more; {
		var text string
		text, query, more = strings.Cut(query, "&")
		name, value, _ := strings.Cut(text, "=")
		point = point || strings.EqualFold(name, "x")
		n, rest, isNumber := numberUpTo(value, 6)
		isNumber = isNumber && rest == ""
		switch says := meaningOf(name); {
		case says == meansYear && isNumber && len(value) >= 4:
			year = n
		case says == meansMonth && (isNumber && n <= 12 && len(value) <= 2 || monthName(value) != 0): // some count from 0
			month = true
		case c.outInValue(says, value):
			return true
		}
	}
	return year != 0 && month && !point && c.out(year, true, true)
}

// outInValue checks a value as a date: a complete date under any name, and any form under the name
// of a date.
func (c *calendar) outInValue(says meaning, value string) bool {
	if year, hasDay, n := isoDate(value); n != 0 && (hasDay && c.near(year) || says != meansNothing) {
		return c.out(year, true, says != meansNothing)
	}
	if says == meansNothing {
		return false
	}
	year, ok := dayFirst(value)
	if !ok {
		year, ok = monthAndYear(value)
	}
	if ok || says == meansRange {
		return ok && c.out(year, true, true)
	}
	if year, ok := compactDate(value); ok && c.near(year) {
		return c.out(year, true, true)
	}
	seconds, _, ok := number(value, 10)
	return ok && len(value) == 10 && c.out(time.Unix(int64(seconds), 0).UTC().Year(), false, true)
}

// dayFirst parses 12.5.2031, 5/12/2031 and 05-2031, also with escaped slashes.
func dayFirst(s string) (year int, ok bool) {
	s = strings.ReplaceAll(s, "%2F", "/")
	for range 2 {
		n, rest, ok := numberUpTo(s, 2)
		if !ok || n < 1 || n > 31 || rest == "" || strings.IndexByte("-_./", rest[0]) < 0 {
			return 0, false
		}
		s = rest[1:]
		if year, rest, ok := number(s, 4); ok {
			return year, rest == ""
		}
	}
	return 0, false
}

// meaningOf returns the meaning of a parameter's name such as "year", "cal_month", "startDate" or
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
		if m := meaningOfWord(name[i:j]); m == meansThing {
			return meansNothing
		} else if m != meansNothing {
			found = m
		}
		i = j
	}
	return found
}

func meaningOfWord(word string) meaning {
	switch strings.ToLower(word) {
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
	case "expiry", "expires", "expiration", "expire", "exp", "maturity", "matures", "due", "valid", "validity", "birth", "warranty", "eol",
		"delivery", "contract", "settlement", "release", "launch", "issue":
		return meansThing
	}
	return meansNothing
}

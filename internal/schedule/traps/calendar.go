package traps

import (
	"strings"
	"time"
)

// A calendar whose pages all have different text is a trap that no other guard ends before a
// million pages. A calendar with empty months is ended by SameContent, and costs the same without
// this guard.
//
// An endless calendar is left, step by step, where it leaves the allowed years. So the guard need
// not recognise every date: it is enough to recognise some page of each year.
//
// URLs contain numbers for many reasons. A year alone is never a date. A year and a month are one
// in these forms:
//
//   - /2031/05, /2031/11 and /2031/5;
//   - 2031-05, 2031-05-12, also with "_" or ".", as a word of a path;
//   - /2031/may and /may-2031;
//   - 203105 and 20310512 only after a calendar word;
//   - parameters whose names say that they are a date, in these forms, as 12.5.2031 and 5/12/2031, or as seconds since 1970; those whose names say they are an end of a range, only with separators between the numbers, as other numbers have ranges too; and complete dates, 2031-05-12, under any name;
//   - a parameter that says it is the year together with one that says it is the month.
//
// A date belongs to a calendar if it is at the start of a path, or next to a word such as calendar,
// or if the name of its parameter says so. Any other date, as in /bonds/2035-02-15, may be 130
// years away: only an endless calendar continues beyond that.
//
// The far past differs from the far future in that it has happened: a date before the limit counts
// only if at most a kind of view follows it in the path, as /1969/07/21/men-walk-on-moon.html is an
// article.

// window is the range around the current year in which a number may be a year if nothing else says
// so: some newspaper archives go back further. Limits outside the window apply only after a word
// such as calendar, and to parameters whose names say that they are dates.
const window = 150

// calendar detects dates outside the limits.
type calendar struct {
	now         int // the current year
	ahead, back int
}

// out reports whether a year is too far in the future or, if past is set, in the past. Bonds,
// products and seasons have dates, too: a date that does not belong to a calendar may be
// yearsOfThings away.
func (c *calendar) out(year int, past, says bool) bool {
	ahead, back := c.ahead, c.back
	if !says {
		if !c.near(year) {
			return false
		}
		ahead, back = max(ahead, yearsOfThings), max(back, yearsOfThings)
	}
	return c.ahead > 0 && year > c.now+ahead || past && c.back > 0 && year < c.now-back
}

// yearsOfThings is the maximum distance of dates of things from today; it is less than the window.
const yearsOfThings = 130

// far reports whether a year could be out of the limits at all. It saves further checks.
func (c *calendar) far(year int) bool { return c.out(year, true, true) }

// isCalendar reports whether the date between two parts of a path belongs to a calendar: by a word
// in them, or because it is the start of the path.
func (c *calendar) isCalendar(year int, before, after string) bool {
	return before == "/" && c.near(year) || saysCalendar(before) || saysCalendar(after)
}

func (c *calendar) near(year int) bool { return year >= c.now-window && year <= c.now+window }

func outOfCalendar(path, query string, l *Limits, now time.Time) bool {
	inPath, inQuery := hasLongNumber(path), hasLongNumber(query)
	if !inPath && !inQuery {
		return false // the common case
	}
	c := calendar{now: now.UTC().Year(), ahead: l.CalendarAhead, back: l.CalendarBack}
	return inPath && c.outInPath(path) || inQuery && c.outInQuery(query)
}

// hasLongNumber reports whether s has four digits in a row.
func hasLongNumber(s string) bool {
	digits := 0
	for i := range len(s) {
		if !isDigit(s[i]) {
			digits = 0
		} else if digits++; digits == 4 {
			return true
		}
	}
	return false
}

// outInPath checks each segment with its neighbours.
func (c *calendar) outInPath(path string) bool {
	for after := path; after != ""; {
		before := path[:len(path)-len(after)+1] // with the slash
		var segment string
		segment, after = nextSegment(after)
		if c.outInSegment(before, segment, after) {
			return true
		}
	}
	return false
}

// outInSegment checks a segment. before is the path up to it with the last slash, after the rest
// with the first slash.
func (c *calendar) outInSegment(before, segment, after string) bool {
	if !hasLongNumber(segment) {
		return c.outWithMonthFirst(before, segment, after)
	}
	if year, rest, ok := number(segment, 4); ok && rest == "" {
		return c.outInSegments(before, year, after)
	}
	if year, ok := monthAndYear(segment); ok {
		return c.out(year, saysCalendar(before) && isView(after), c.isCalendar(year, before, after))
	}
	if c.outInWords(before, segment, after) {
		return true
	}
	year, ok := compactDate(segment)
	return ok && c.far(year) && saysCalendar(before) && c.out(year, isView(after), true)
}

// outWithMonthFirst checks /may/2031.
func (c *calendar) outWithMonthFirst(before, segment, after string) bool {
	if monthName(segment) == 0 || after == "" {
		return false
	}
	year, rest, ok := number(after[1:], 4)
	return ok && (rest == "" || rest[0] == '/') && c.near(year) && c.out(year, false, c.isCalendar(year, before, after))
}

// outInSegments checks /2031/05, with or without a day, and /2031/may.
func (c *calendar) outInSegments(before string, year int, after string) bool {
	if after == "" || !c.far(year) {
		return false
	}
	segment, after := nextSegment(after)
	if segment == "month" && strings.HasSuffix(before, "/year/") {
		segment, after = nextSegment(after)
		before += "calendar"
	}
	if monthName(segment) != 0 {
		return c.out(year, saysCalendar(before) && isView(after), c.isCalendar(year, before, after))
	}
	month, rest, ok := numberUpTo(segment, 2)
	if !ok || rest != "" && !isPageEnding(rest) || month < 1 || month > 12 {
		return false
	}
	atStart := before == "/" && len(segment)-len(rest) == 2 && c.near(year)
	if day, end := nextSegment(after); rest == "" && day != "" {
		if n, rest, ok := numberUpTo(day, 2); ok && (rest == "" || isPageEnding(rest)) {
			if n < 1 || n > 31 {
				return false
			}
			after = end
		}
	}
	return c.out(year, isView(after), atStart || saysCalendar(before) || saysCalendar(after))
}

// nextSegment splits the first segment from the rest of a path.
func nextSegment(after string) (segment, rest string) {
	if after == "" {
		return "", ""
	}
	segment = after[1:]
	if i := strings.IndexByte(segment, '/'); i >= 0 {
		return segment[:i], segment[i:]
	}
	return segment, ""
}

// outInWords checks 2031-05 and 2031-05-12 among the words of a segment.
func (c *calendar) outInWords(before, segment, after string) bool {
	for i := 0; i < len(segment); i++ {
		if !isDigit(segment[i]) || i > 0 && isAlnum(segment[i-1]) {
			continue
		}
		year, _, n := isoDate(segment[i:])
		if n == 0 || !c.far(year) {
			continue
		}
		whole := i == 0 && (n == len(segment) || isPageEnding(segment[i+n:]))
		says := whole && before == "/" && c.near(year) || saysCalendar(segment) || !hasTitle(segment) && (saysCalendar(before) || saysCalendar(after))
		return c.out(year, (whole || i+n == len(segment)) && isView(after), says)
	}
	return false
}

// hasTitle reports whether a segment has two words of three letters or more. A page with a title
// does not belong to an endless calendar.
func hasTitle(segment string) bool {
	words, letters := 0, 0
	for i := range len(segment) {
		if !isLetter(segment[i]) {
			letters = 0
		} else if letters++; letters == 3 {
			words++
		}
	}
	return words > 1
}

// isoDate parses 2031-05, 2031-05-12 or 2031-W20, with "-", "_" or "." between.
func isoDate(s string) (year int, hasDay bool, n int) {
	year, rest, ok := number(s, 4)
	if !ok || len(rest) < 3 || strings.IndexByte("-_.", rest[0]) < 0 {
		return 0, false, 0
	}
	mark := rest[0]
	if week := rest[1] | 0x20; week == 'w' && len(rest) >= 4 && isDigit(rest[2]) && isDigit(rest[3]) && !startsAlnum(rest[4:]) {
		return year, true, 8
	}
	month, rest, ok := number(rest[1:], 2)
	if !ok || month < 1 || month > 12 {
		return 0, false, 0
	}
	if len(rest) >= 3 && rest[0] == mark {
		if day, rest, ok := number(rest[1:], 2); ok && day >= 1 && day <= 31 && (!startsAlnum(rest) || rest[0]|0x20 == 't') {
			return year, true, 10
		}
		if isDigit(rest[1]) {
			return 0, false, 0 // a third number that is not a day
		}
	}
	if startsAlnum(rest) {
		return 0, false, 0
	}
	return year, false, 7
}

// compactDate parses 203105 and 20310512.
func compactDate(s string) (year int, ok bool) {
	s = withoutEnding(s)
	if len(s) != len("203105") && len(s) != len("20310512") {
		return 0, false
	}
	year, _, ok = number(s[:4], 4)
	month, _, isMonth := number(s[4:6], 2)
	day, isDay := 1, true
	if len(s) > 6 {
		day, _, isDay = number(s[6:], 2)
	}
	return year, ok && isMonth && isDay && year > 0 && month >= 1 && month <= 12 && day >= 1 && day <= 31
}

// monthAndYear parses may-2031 and 2031-may, as a complete segment.
func monthAndYear(s string) (year int, ok bool) {
	s = withoutEnding(s)
	i := strings.IndexAny(s, "-_")
	if i < 0 {
		return 0, false
	}
	a, b := s[:i], s[i+1:]
	if monthName(a) == 0 {
		a, b = b, a
	}
	year, rest, ok := number(b, 4)
	return year, ok && rest == "" && monthName(a) != 0
}

// withoutEnding returns a segment without a page's file extension.
func withoutEnding(s string) string {
	if i := strings.LastIndexByte(s, '.'); i >= 0 && isPageEnding(s[i:]) {
		return s[:i]
	}
	return s
}

// number parses exactly n digits that no digit follows.
func number(s string, n int) (value int, rest string, ok bool) {
	value, rest, ok = numberUpTo(s, n)
	return value, rest, ok && len(s)-len(rest) == n
}

// numberUpTo parses one to n digits that no digit follows.
func numberUpTo(s string, n int) (value int, rest string, ok bool) {
	i := 0
	for i < len(s) && isDigit(s[i]) {
		if i == n {
			return 0, "", false
		}
		value = value*10 + int(s[i]-'0')
		i++
	}
	return value, s[i:], i > 0
}

func isDigit(c byte) bool       { return '0' <= c && c <= '9' }
func isLetter(c byte) bool      { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func isAlnum(c byte) bool       { return isDigit(c) || isLetter(c) }
func startsAlnum(s string) bool { return s != "" && isAlnum(s[0]) }

// isPageEnding reports whether s is the file extension of a page.
func isPageEnding(s string) bool {
	switch s {
	case ".html", ".htm", ".php", ".asp", ".aspx", ".jsp", ".shtml":
		return true
	}
	return false
}

// isView reports whether the rest of a path names no article, but at most a way to show the date
// before it.
func isView(rest string) bool {
	for rest != "" {
		var segment string
		segment, rest = nextSegment(rest)
		switch strings.ToLower(segment) {
		case "", "list", "month", "week", "day", "index.html", "index.php", "agenda", "events", "page":
			continue
		}
		for i := range len(segment) {
			if isLetter(segment[i]) || segment[i] == '%' {
				return false
			}
		}
	}
	return true
}

// longestContext is how far before a date a calendar word may be, in bytes.
const longestContext = 200

// calendarWords are parts of words that say that the following numbers are dates.
var calendarWords = []string{
	"calend", "kalend", "event", "agenda", "archiv", "schedule", "termine", "veranstalt", "evenem", "diary", "month",
	"by-date", "blog", "news", "daily", "weekly",
}

func saysCalendar(path string) bool {
	path = path[max(0, len(path)-longestContext):] // to be linear overall
	for i := range len(path) {
		for _, w := range calendarWords {
			if path[i]|0x20 == w[0] && len(path)-i >= len(w) && strings.EqualFold(path[i:i+len(w)], w) {
				return true
			}
		}
	}
	return false
}

// monthName returns the number of an English month, in full or as three letters; 0 if s is not one.
func monthName(s string) time.Month {
	if len(s) < 3 || len(s) > len("september") {
		return 0
	}
	for m := time.January; m <= time.December; m++ {
		if name := m.String(); strings.EqualFold(s, name) || strings.EqualFold(s, name[:3]) {
			return m
		}
	}
	return 0
}

package cookies

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The parts of a date. What follows a part in the same token does not matter.
var (
	timePart = regexp.MustCompile(`(?s)^(\d{1,2}):(\d{1,2}):(\d{1,2})(?:\D.*)?$`)
	dayPart  = regexp.MustCompile(`(?s)^(\d{1,2})(?:\D.*)?$`)
	yearPart = regexp.MustCompile(`(?s)^(\d{2,4})(?:\D.*)?$`)
)

var months = []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}

// dateParts are what a date is made of; -1 was not found.
type dateParts struct{ hour, minute, second, day, month, year int }

// parseDate reads the date of an Expires attribute, which has many forms: each
// token of it is taken for the first part that it may be and that is still missing
// (RFC 6265 5.1.1).
func parseDate(text string) (time.Time, bool) {
	p := dateParts{-1, -1, -1, -1, -1, -1}
	for _, token := range strings.FieldsFunc(text, isDateDelimiter) {
		p.take(token)
	}
	switch {
	case p.year >= 70 && p.year <= 99:
		p.year += 1900
	case p.year >= 0 && p.year <= 69:
		p.year += 2000
	}
	if p.hour < 0 || p.day < 1 || p.month < 1 || p.year < 1601 || p.hour > 23 || p.minute > 59 || p.second > 59 {
		return time.Time{}, false
	}
	at := time.Date(p.year, time.Month(p.month), p.day, p.hour, p.minute, p.second, 0, time.UTC)
	return at, at.Day() == p.day // there is no 31 June
}

func (p *dateParts) take(token string) {
	if m := timePart.FindStringSubmatch(token); p.hour < 0 && m != nil {
		p.hour, p.minute, p.second = number(m[1]), number(m[2]), number(m[3])
		return
	}
	if m := dayPart.FindStringSubmatch(token); p.day < 0 && m != nil {
		p.day = number(m[1])
		return
	}
	if i := slices.Index(months, strings.ToLower(token[:min(3, len(token))])); p.month < 0 && i >= 0 {
		p.month = i + 1
		return
	}
	if m := yearPart.FindStringSubmatch(token); p.year < 0 && m != nil {
		p.year = number(m[1])
	}
}

func number(digits string) int {
	n, _ := strconv.Atoi(digits) // at most four digits
	return n
}

func isDateDelimiter(r rune) bool {
	return r == '\t' || r >= ' ' && r <= '/' || r >= ';' && r <= '@' || r >= '[' && r <= '`' || r >= '{' && r <= '~'
}

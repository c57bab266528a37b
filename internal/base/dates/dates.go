// Package dates parses dates and times in the forms that people and programs write: ISO 8601 and
// its profiles, RFC 5322 and RFC 850, the output of JavaScript, SQL, C and Go, seconds since 1970,
// and prose such as "Monday, 2nd of January 2006 at 3:04 p.m. EST". It is the only parser of dates
// in pages, feeds, sitemaps and robots directives.
//
// A text is split into a day, a time of day and a zone, each in any of its forms. The order of day
// and month is certain if the month is a name or the year is first; with points, the day is first
// everywhere. 1/2/2006 could be two different days, and is therefore not a date.
package dates

import (
	"cmp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"seine/internal/base/ascii"
	"seine/internal/base/lazyregexp"
)

// MaxText bounds the text of a date, in bytes.
const MaxText = 100

// Date is a parsed date.
type Date struct {
	Time  time.Time
	Clock bool // has a time of day; otherwise Time is at midnight
	Zoned bool // has a zone
}

// String returns the date in the form of RFC 3339: a date-time to the microsecond, or a full-date
// if it has no time of day.
func (d Date) String() string {
	if !d.Clock {
		return d.Time.Format(time.DateOnly)
	}
	return d.Time.Truncate(time.Microsecond).Format(time.RFC3339Nano)
}

// Parse parses a date, and reports whether the text is one. zone applies to dates without a zone.
func Parse(text string, zone *time.Location) (Date, bool) {
	if len(text) > MaxText {
		return Date{}, false
	}
	plain := strings.Trim(strings.Map(ascii.Plain, text), " \t\r\n\"';.")
	otherDigits := strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII && unicode.IsDigit(r) })
	for _, layout := range []string{time.RFC3339, time.DateOnly} { // the most frequent forms
		if t, err := time.ParseInLocation(layout, plain, zone); err == nil && !otherDigits {
			return Date{t, layout == time.RFC3339, layout == time.RFC3339}, t.Year() > 0
		}
	}
	if m := unixTime().FindStringSubmatch(plain); m != nil {
		if d, ok := FromUnix(m[1] + m[2]); ok {
			return d, true
		}
	}
	day, c := fold(plain), clock{zone: zone}
	if m := clockText().FindStringSubmatch(day); m != nil {
		before, after, _ := strings.Cut(day, m[0])
		day = before + " " + after
		if !c.read(m, len(before) > 4 && strings.Trim(before[:4], "0123456789") == "") {
			return Date{}, false
		}
	}
	t, ok := parseDay(day)
	if !ok || otherDigits && (t.Year() < 1700 || t.Year() > 2200) { // the year of a different calendar
		return Date{}, false
	}
	t = time.Date(t.Year(), t.Month(), t.Day(), c.hour, c.minute, c.second, c.nanos, c.zone)
	return Date{t, c.written, c.zoned}, t.Year() > 0 && t.Year() < 10000
}

// unixTime matches seconds since 1970 in the present era, or milliseconds, including the form of
// .NET in JSON.
var unixTime = lazyregexp.New(`^(?:(\d{10}(?:\d{3})?)|/Date\((\d{10}(?:\d{3})?)(?:[-+]\d{4})?\)/)$`)

// FromUnix returns the date of a number of seconds or milliseconds since 1970.
func FromUnix(number string) (Date, bool) {
	const millisFrom, millisTo = 100_000_000_000, 253_402_300_800_000 // as seconds, the year 5138; the year 10000
	n, err := strconv.ParseInt(number, 10, 64)
	t := time.Unix(n, 0)
	if n >= millisFrom {
		t = time.UnixMilli(n)
	}
	return Date{t.UTC(), true, true}, err == nil && n >= 0 && n < millisTo
}

// days are the layouts of a day: with the month in digits, or by name with spaces between the
// parts.
var days = []string{
	"2006-1-2", "2006/1/2", "2006.1.2", "20060102", "2.1.2006", "2 Jan 2006", "Jan 2 2006", "2006 Jan 2", "2006 2 Jan", "2 Jan 06", "Jan 2 06",
}

// parseDay parses a day from a folded text.
func parseDay(s string) (time.Time, bool) {
	s = strings.Trim(zoneOfDay().ReplaceAllString(aroundMarks().ReplaceAllString(s, "$1"), "$1"), " -.:|")
	if strings.ContainsAny(s, "JFMASOND") {
		s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(" -./'’", r) }), " ")
	}
	for _, layout := range days {
		if t, err := time.Parse(layout, s); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

var (
	aroundMarks = lazyregexp.New(` *([-./]) *`)
	zoneOfDay   = lazyregexp.New(`^(\d{4}-\d{2}-\d{2})(?:z|\+\d{2}:?\d{2})$`)
	// clockText matches a time of day in a folded text with its zone: half of the day, hour,
	// minute, second, fraction, half, zone, sign, hours and minutes of the offset, zone.
	clockText = lazyregexp.New(`(?:^|[ :])(?:([前後]) ?)?(\d{1,2})(?: ?:(?: ?(\d{2})(?: ?: ?(\d{2})?(?:\.(\d+))?)?)?(?: ?:)?(?: ?(am|pm))?| ?(am|pm))` +
		`(?: ?(\p{Ll}{1,4}))?(?: ?([-+−])(\d{1,2}):?(\d{2})?)?(?: ?(\p{Ll}{1,4}))?(?: |$)`)
)

// clock is a time of day with its zone.
type clock struct {
	hour, minute, second, nanos int
	zone                        *time.Location
	written, zoned              bool
}

// read sets the clock from the groups of clockText, and reports whether they are a valid time.
// dayBefore is set if a day with the year first precedes the time.
func (c *clock) read(m []string, dayBefore bool) bool {
	c.written = true
	c.hour, c.minute, c.second, c.nanos = number(m[2]), number(m[3]), number(m[4]), number((m[5] + "000000000")[:9])
	if half := cmp.Or(m[1], m[6], m[7]); half != "" {
		if c.hour < 1 || c.hour > 12 {
			return false
		}
		if c.hour %= 12; half == "pm" || half == "後" {
			c.hour += 12
		}
	}
	if c.minute > 59 || c.second > 60 || c.second == 60 && c.minute < 59 || c.hour > 23 && c.hour*60+c.minute+c.second != 24*60 {
		return false
	}
	for _, name := range []string{m[8], m[12]} {
		if name == "z" && m[9] != "" && m[9] != "+" || !c.readZone(name) { // "Z-05:00" names two zones
			return false
		}
	}
	if m[9] == "-" && m[4] == "" && len(m[11]) == 2 && !dayBefore {
		return false // in prose, "10:00-12:00" is a range
	}
	return m[9] == "" || c.readZone(strings.Replace(m[9], "−", "-", 1)+("0" + m[10])[len(m[10])-1:]+(m[11] + "00")[:2])
}

// readZone sets the zone from a name, or from an offset such as "-0700", and reports whether it is
// valid. An empty name leaves the zone unchanged.
func (c *clock) readZone(name string) bool {
	if name == "" {
		return true
	}
	meaning := cmp.Or(zones[name], name)
	if t, err := time.Parse("-0700", meaning); err == nil {
		_, seconds := t.Zone()
		c.zone, c.zoned = time.FixedZone("", seconds), true
		return seconds <= 14*3600 && seconds >= -14*3600
	}
	zone, err := time.LoadLocation(meaning)
	c.zone, c.zoned = zone, true
	return err == nil && zones[name] != ""
}

// number parses up to nine digits.
func number(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}

package calendar

import (
	"regexp"
	"strconv"
	"time"
	_ "time/tzdata" // containers often have no time zones
)

// Forms of times in a file (RFC 5545 3.3.4 and 3.3.5) and in a record.
const (
	dateForm     = "20060102"
	localForm    = "20060102T150405"
	utcForm      = "20060102T150405Z"
	floatingTime = "2006-01-02T15:04:05"
)

// time reads the value of a property that is a date, or a date with a time; "" if it is neither.
func (r *reader) time(l line) string {
	if day, err := time.Parse(dateForm, l.value); err == nil {
		return day.Format(time.DateOnly)
	}
	if at, err := time.Parse(utcForm, l.value); err == nil {
		return at.Format(time.RFC3339)
	}
	zone := r.zone(l.parameter("TZID"))
	if zone == nil {
		at, err := time.Parse(localForm, l.value)
		if err != nil {
			return ""
		}
		return at.Format(floatingTime)
	}
	at, err := time.ParseInLocation(localForm, l.value, zone)
	if err != nil {
		return ""
	}
	return at.Format(time.RFC3339)
}

// zone looks up a time zone by its IANA name; nil if it has none. The VTIMEZONE of the file could say what others mean.
func (r *reader) zone(name string) *time.Location {
	if name == "" || name == "Local" {
		return nil
	}
	zone, known := r.zones[name]
	if !known && len(r.zones) < maxZones {
		zone, _ = time.LoadLocation(name) // nil with an error
		r.zones[name] = zone
	}
	return zone
}

// duration is that of RFC 5545 3.3.6, without a sign: an event does not end before it starts.
var duration = regexp.MustCompile(`^\+?P(?:(\d{1,6})W)?(?:(\d{1,6})D)?(?:T(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,6})S)?)?$`)

// endOf adds a duration to a start; "" if there is none.
func endOf(start, length string) string {
	m := duration.FindStringSubmatch(length)
	if m == nil {
		return ""
	}
	var n [6]int
	for i, s := range m[1:] {
		n[i+1], _ = strconv.Atoi(s) // digits only, or nothing
	}
	for _, form := range []string{time.DateOnly, time.RFC3339, floatingTime} {
		if at, err := time.Parse(form, start); err == nil {
			clock := time.Duration(n[3])*time.Hour + time.Duration(n[4])*time.Minute + time.Duration(n[5])*time.Second
			if at = at.AddDate(0, 0, 7*n[1]+n[2]).Add(clock); at.Year() > 9999 { // which RFC 3339 cannot say
				return ""
			}
			return at.Format(form)
		}
	}
	return ""
}

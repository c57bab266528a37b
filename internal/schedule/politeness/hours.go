package politeness

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // for containers without /usr/share/zoneinfo
)

// Hours are the times of a week, in a time zone, at which a host may be sent requests. The zero
// value means always. Hours are comparable: those parsed from texts with the same meaning, in the
// same zone, are equal.
type Hours struct {
	// windows holds the start and end of each window as minutes of the week, two bytes each, sorted
	// and disjoint; "" means the whole week.
	windows string
	zone    *time.Location // from locations, so that equal zones are identical
	// and holds further hours that must also allow a time, if not nil.
	and *Hours
}

const (
	day         = 24 * 60 // minutes
	week        = 7 * day
	windowBytes = 4
	// maxRounds limits the search for a time that is in two sets of hours with different zones.
	maxRounds = 1000
)

// minutes are the minutes of a week that starts on Monday.
type minutes [week]bool

// ParseHours parses windows such as "22:00-06:00" (of every day; it ends on the next), "Mon-Fri
// 09:00-17:00" or "Sat,Sun 00:00-24:00", in a zone given by its IANA name; "" is UTC. A time is
// allowed if any window contains it. Without windows, all times are.
//
// A window follows the local clock. If the clock is put forward over its start, it begins right
// then. An hour that occurs twice counts both times.
func ParseHours(spec []string, zone string) (Hours, error) {
	loc, err := location(zone)
	if err != nil {
		return Hours{}, err
	}
	if len(spec) == 0 {
		return Hours{}, nil
	}
	var open minutes
	for _, text := range spec {
		if err := open.add(text); err != nil {
			return Hours{}, fmt.Errorf("%q: %w", text, err)
		}
	}
	return open.hours(loc), nil
}

// locations caches zones by name, as time.LoadLocation returns a new one each time. It only holds
// names of the time zone database, so it stays small.
var locations sync.Map

func location(name string) (*time.Location, error) {
	switch name {
	case "", "UTC":
		return time.UTC, nil
	case "Local":
		return nil, errors.New(`time zone "Local": differs from machine to machine; write an IANA name, such as Europe/Paris`)
	}
	if loc, ok := locations.Load(name); ok {
		return loc.(*time.Location), nil
	}
	loc, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("time zone %q: is not known; write an IANA name, such as Europe/Paris", name)
	}
	known, _ := locations.LoadOrStore(name, loc)
	return known.(*time.Location), nil
}

// add adds the minutes of a window.
func (m *minutes) add(text string) error {
	fields := strings.Fields(text)
	days := "Mon-Sun"
	switch len(fields) {
	case 1:
	case 2:
		days = fields[0]
	default:
		return errors.New(`write days, if not all, and times, such as "Mon-Fri 09:00-17:00"`)
	}
	on, err := parseDays(days)
	if err != nil {
		return err
	}
	from, to, err := parseTimes(fields[len(fields)-1])
	if err != nil {
		return err
	}
	if to < from {
		to += day
	}
	for d := range on {
		if on[d] {
			for i := from; i < to; i++ {
				m[(d*day+i)%week] = true
			}
		}
	}
	return nil
}

// parseDays parses days and ranges of days, separated by commas.
func parseDays(text string) (on [7]bool, err error) {
	for part := range strings.SplitSeq(text, ",") {
		a, b, isRange := strings.Cut(part, "-")
		first, err := parseDay(a)
		if err != nil {
			return on, err
		}
		last := first
		if isRange {
			if last, err = parseDay(b); err != nil {
				return on, err
			}
		}
		for d := first; ; d = (d + 1) % 7 {
			on[d] = true
			if d == last {
				break
			}
		}
	}
	return on, nil
}

var dayNames = [...]string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}

func parseDay(text string) (int, error) {
	for i, name := range dayNames {
		if strings.EqualFold(text, name) {
			return i, nil
		}
	}
	return 0, fmt.Errorf("day %q: must be Mon, Tue, Wed, Thu, Fri, Sat or Sun", text)
}

// parseTimes parses two times of day separated by a hyphen.
func parseTimes(text string) (from, to int, err error) {
	a, b, ok := strings.Cut(text, "-")
	if !ok {
		return 0, 0, fmt.Errorf("times %q: write start and end, such as 22:00-06:00", text)
	}
	if from, err = parseTime(a); err != nil {
		return 0, 0, err
	}
	if to, err = parseTime(b); err != nil {
		return 0, 0, err
	}
	switch from {
	case day:
		return 0, 0, errors.New("starts at 24:00: write 00:00, and the next day")
	case to:
		return 0, 0, errors.New("is empty: a whole day is 00:00-24:00")
	}
	return from, to, nil
}

func parseTime(text string) (int, error) {
	bad := fmt.Errorf("time %q: must be from 00:00 to 24:00", text)
	if len(text) != len("00:00") || text[2] != ':' {
		return 0, bad
	}
	h, errH := strconv.ParseUint(text[:2], 10, 8)
	m, errM := strconv.ParseUint(text[3:], 10, 8)
	if errH != nil || errM != nil || m > 59 || h*60+m > day {
		return 0, bad
	}
	return int(h*60 + m), nil
}

// hours converts minutes to windows. If no minute is set, the result has one empty window.
func (m *minutes) hours(zone *time.Location) Hours {
	var windows []byte
	for i := 0; i < week; i++ {
		if !m[i] {
			continue
		}
		windows = binary.BigEndian.AppendUint16(windows, uint16(i))
		for i < week && m[i] {
			i++
		}
		windows = binary.BigEndian.AppendUint16(windows, uint16(i))
	}
	switch {
	case windows == nil:
		windows = make([]byte, windowBytes)
	case len(windows) == windowBytes && m[0] && m[week-1]:
		return Hours{}
	}
	return Hours{windows: string(windows), zone: zone}
}

func (h *Hours) minutes() *minutes {
	var m minutes
	for i := 0; i < len(h.windows); i += windowBytes {
		from, to := h.window(i)
		for j := from; j < to; j++ {
			m[j] = true
		}
	}
	return &m
}

// window returns the first and the end minute of the window at an offset.
func (h *Hours) window(i int) (from, to int64) {
	w := h.windows[i : i+windowBytes]
	return int64(w[0])<<8 | int64(w[1]), int64(w[2])<<8 | int64(w[3])
}

// Next returns t if it lies within the hours, else the time at which they next begin. That is a
// week ahead at most, or two if the clock is put forward over the only window. Hours that contain
// no time, which only Strictest can make, never begin: Next then returns a closed time within about
// a week.
func (h Hours) Next(t int64) int64 {
	if h.windows == "" {
		return t
	}
	if h.and == nil {
		return h.next(t)
	}
	horizon := plus(t, week*time.Minute)
	for range maxRounds {
		opens := h.next(t)
		if t = h.and.Next(opens); t == opens || t > horizon {
			break
		}
	}
	return t
}

// next searches for an opening before the next change of the clock, then after it.
func (h *Hours) next(t int64) int64 {
	for {
		at := time.Unix(0, t).In(h.zone)
		_, offset := at.Zone()
		wait := h.closedFor(sinceMonday(t, offset))
		if wait == 0 {
			return t
		}
		opening := plus(t, wait)
		_, change := at.ZoneBounds()
		if change.IsZero() || time.Unix(0, opening).Before(change) {
			return opening
		}
		t = change.UnixNano()
	}
}

// sinceMonday returns the time since the start of the week, for a clock offset seconds ahead of
// UTC.
func sinceMonday(t int64, offset int) time.Duration {
	const span = int64(week * time.Minute)
	const firstDay = 3 * 24 * time.Hour // 1970 began on a Thursday
	p := t%span + int64(firstDay) + int64(offset)*int64(time.Second)
	return time.Duration((p%span + span) % span)
}

// closedFor returns the time from a moment of the week to the start of the next window, 0 within
// one.
func (h *Hours) closedFor(p time.Duration) time.Duration {
	for i := 0; i < len(h.windows); i += windowBytes {
		from, to := h.window(i)
		if start := time.Duration(from) * time.Minute; p < start {
			return start - p
		}
		if p < time.Duration(to)*time.Minute {
			return 0
		}
	}
	first, _ := h.window(0)
	return time.Duration(first+week)*time.Minute - p
}

// common returns the intersection of two Hours.
func (h Hours) common(g Hours) Hours {
	switch {
	case h.windows == "" || g.includes(&h):
		return g
	case g.windows == "":
		return h
	case h.and != nil:
		rest := h.and.common(g)
		h.and = &rest
		return h
	case g.and != nil || h.zone != g.zone:
		h.and = &g
		return h
	}
	shared, other := h.minutes(), g.minutes()
	for i := range shared {
		shared[i] = shared[i] && other[i]
	}
	return shared.hours(h.zone)
}

// includes reports whether g is a part of h, so that h holds only if g does.
func (h *Hours) includes(g *Hours) bool {
	for ; h != nil; h = h.and {
		if h.windows == g.windows && h.zone == g.zone && (g.and == nil || h.and == g.and) {
			return true
		}
	}
	return false
}

package traps

import (
	"strings"
	"time"
)

// Reason identifies the guard that excludes a URL, "" if none does.
type Reason string

// The guards.
const (
	URLLength      Reason = "trap_url_length"      // the URL is too long
	PathDepth      Reason = "trap_path_depth"      // its path has too many segments
	Repeats        Reason = "trap_repeats"         // consecutive segments of its path repeat
	Calendar       Reason = "trap_calendar"        // its date is too far away
	ParameterOrder Reason = "trap_parameter_order" // another order of its parameters is known: see SortQuery
	ParameterSets  Reason = "trap_parameter_sets"  // its path has too many sets of parameters
	SameShape      Reason = "trap_same_shape"      // too many URLs differ from it only in numbers and codes
	SameContent    Reason = "trap_same_content"    // pages of its shape have no distinct content
)

// guard describes the guard with a reason.
type guard struct {
	reason   Reason
	keys     string             // keys of a spec that set its limits
	compares bool               // it compares a URL with others
	off      func(*Limits) bool // whether the limits turn it off
}

var guards = []guard{
	{URLLength, "traps.max_url_length", false, func(l *Limits) bool { return l.MaxURLLength == 0 }},
	{PathDepth, "traps.max_path_depth", false, func(l *Limits) bool { return l.MaxPathDepth == 0 }},
	{Repeats, "traps.max_repeats", false, func(l *Limits) bool { return l.MaxRepeats == 0 }},
	{Calendar, "traps.calendar_ahead and traps.calendar_back", false, func(l *Limits) bool { return l.CalendarAhead == 0 && l.CalendarBack == 0 }},
	{ParameterOrder, "traps.max_parameter_sets", true, func(l *Limits) bool { return l.MaxParameterSets == 0 }},
	{ParameterSets, "traps.max_parameter_sets", true, func(l *Limits) bool { return l.MaxParameterSets == 0 }},
	{SameShape, "traps.max_same_shape", true, func(l *Limits) bool { return l.MaxSameShape == 0 }},
	{SameContent, "traps.same_content_after", true, func(l *Limits) bool { return l.SameContentAfter == 0 }},
}

// guard returns the guard with a reason, the zero value if there is none.
func (r Reason) guard() (of guard) {
	for _, g := range guards {
		if g.reason == r {
			of = g
		}
	}
	return of
}

// Reasons returns the reasons of all guards.
func Reasons() (all []Reason) {
	for _, g := range guards {
		all = append(all, g.reason)
	}
	return all
}

// Compares reports whether the guard compares a URL with others.
func (r Reason) Compares() bool { return r.guard().compares }

// Keys returns the keys of a spec that set the limits of the guard, "" if no guard has the reason
// r.
func (r Reason) Keys() string { return r.guard().keys }

// Off reports whether the limits turn off the guard with a reason.
func (l *Limits) Off(r Reason) bool {
	off := r.guard().off
	return off != nil && off(l)
}

// Limits are the limits of the guards; 0 turns one off.
type Limits struct {
	// MaxURLLength is in bytes, MaxPathDepth in segments.
	MaxURLLength, MaxPathDepth int
	// MaxRepeats is how often a segment, or a run of two or three, may be repeated consecutively.
	MaxRepeats int
	// CalendarAhead and CalendarBack limit the distance of a date from now, in years.
	CalendarAhead, CalendarBack int
	// MaxParameterSets is how many sets of parameter names one path may have. A value above 1,000
	// turns the guard off, as more are not counted.
	MaxParameterSets int
	// MaxSameShape is how many URLs of one host may differ only in numbers and codes.
	MaxSameShape int64
	// SameContentAfter is the number of pages of one host and rough shape after which the guard
	// checks how many of them differ.
	SameContentAfter int64
}

// Check applies the guards that need only the URL, which must be canonical.
func Check(url string, l *Limits, now time.Time) Reason {
	if l.MaxURLLength > 0 && len(url) > l.MaxURLLength {
		return URLLength
	}
	_, path, query := split(url)
	depth, repeats := walk(path, l.MaxRepeats)
	switch {
	case l.MaxPathDepth > 0 && depth > l.MaxPathDepth:
		return PathDepth
	case repeats:
		return Repeats
	case (l.CalendarAhead > 0 || l.CalendarBack > 0) && outOfCalendar(path, query, l, now):
		return Calendar
	}
	return ""
}

// split splits a canonical URL into its host with the port, its path with the first slash, and its
// query without the question mark. For other strings, parts may be empty.
func split(url string) (host, path, query string) {
	if i := strings.Index(url, "://"); i >= 0 {
		url = url[i+3:]
	}
	if i := strings.IndexByte(url, '?'); i >= 0 {
		url, query = url[:i], url[i+1:]
	}
	if i := strings.IndexByte(url, '/'); i >= 0 {
		return url[:i], url[i:], query
	}
	return url, "", query
}

// longestRun is the maximum number of segments in a repeated run.
const longestRun = 3

// walk counts the segments of a path, and reports whether a segment, or a run of them, is repeated
// more than limit times. Empty segments between slashes count.
func walk(path string, limit int) (depth int, repeats bool) {
	var before [longestRun]string // the last segments, the nearest first
	var same [longestRun]int      // how many segments in a row equal the one i+1 before
	for path != "" && path != "/" {
		var segment string
		segment, path = nextSegment(path)
		for i := range longestRun {
			if depth <= i || before[i] != segment {
				same[i] = 0
				continue
			}
			same[i]++
			repeats = repeats || limit > 0 && same[i]/(i+1) > limit
		}
		before[2], before[1], before[0] = before[1], before[0], segment
		depth++
	}
	return depth, repeats
}

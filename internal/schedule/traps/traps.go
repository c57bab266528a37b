package traps

import (
	"strings"
	"time"
)

// Reason says which guard keeps a URL out. None is "".
type Reason string

// The guards.
const (
	URLLength      Reason = "trap_url_length"      // the URL is too long
	PathDepth      Reason = "trap_path_depth"      // its path has too many segments
	Repeats        Reason = "trap_repeats"         // segments of its path follow themselves
	Calendar       Reason = "trap_calendar"        // it names a month too far away
	ParameterOrder Reason = "trap_parameter_order" // another order of its parameters is known: see SortQuery
	ParameterSets  Reason = "trap_parameter_sets"  // its path has had too many sets of parameters
	SameShape      Reason = "trap_same_shape"      // too many differ from it only in numbers and codes
	SameContent    Reason = "trap_same_content"    // pages like it have no distinct content
)

// guard is what there is to know of the guard of a reason.
type guard struct {
	reason   Reason
	keys     string             // of a spec, that set its limits
	compares bool               // it compares a URL with others
	off      func(*Limits) bool // it keeps nothing out
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

// guard returns the guard of a reason, the zero value if it is not the reason of one.
func (r Reason) guard() (of guard) {
	for _, g := range guards {
		if g.reason == r {
			of = g
		}
	}
	return of
}

// Reasons are all of them.
func Reasons() (all []Reason) {
	for _, g := range guards {
		all = append(all, g.reason)
	}
	return all
}

// Compares reports whether a guard compares a URL with others, and so knows more than
// the URL.
func (r Reason) Compares() bool { return r.guard().compares }

// Keys names the keys of a spec that set the limits of the guard, "" if r is not the reason of one.
func (r Reason) Keys() string { return r.guard().keys }

// Off reports whether the guard of a reason keeps nothing out with such limits.
func (l *Limits) Off(r Reason) bool {
	off := r.guard().off
	return off != nil && off(l)
}

// Limits are where the guards begin; 0 turns one off.
type Limits struct {
	// MaxURLLength is in bytes, MaxPathDepth in segments.
	MaxURLLength, MaxPathDepth int
	// MaxRepeats is how often a segment, or a run of two or three, may follow
	// itself.
	MaxRepeats int
	// CalendarAhead and CalendarBack are how many years from now a date may be.
	CalendarAhead, CalendarBack int
	// MaxParameterSets is how many sets of parameter names one path may have.
	// More than 1,000 are not counted, and turn the guard off.
	MaxParameterSets int
	// MaxSameShape is how many URLs of one host may differ only in numbers and
	// codes.
	MaxSameShape int64
	// SameContentAfter is after how many pages of one host and rough shape it
	// counts how many differ.
	SameContentAfter int64
}

// Check asks the guards that need no more than the URL, a canonical one.
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

// split cuts a canonical URL into its host with the port, its path with the
// first slash, and its query without the question mark. Any string has such
// parts, if only empty ones.
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

// longestRun is how many segments a run has at most that is looked for.
const longestRun = 3

// walk counts the segments of a path, and reports whether one of them, or a run
// of them, follows itself more than limit times. Empty segments between slashes
// are segments.
func walk(path string, limit int) (depth int, repeats bool) {
	var before [longestRun]string // the last segments, the nearest first
	var same [longestRun]int      // how many in a row equal the one so far before
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

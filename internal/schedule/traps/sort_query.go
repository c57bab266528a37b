package traps

import (
	"slices"
	"strings"
)

// SortQuery returns the URL that represents all URLs with the parameters of url in any order. Its
// parameters, names with values, are sorted as they are written. If they are sorted already, it
// returns url itself without an allocation. ok is false if there is no other order, as there are
// fewer than two different parameters.
//
// Whether another order is known must be known exactly, as a guess would lose pages. So this
// package does not remember it. The caller must remember the twin of each admitted URL, not only
// the URL: of two orders neither may be the sorted one.
func SortQuery(url string) (twin string, ok bool) {
	mark := strings.IndexByte(url, '?')
	if mark < 0 {
		return url, false
	}
	query := url[mark+1:]
	if strings.IndexByte(query, '&') < 0 {
		return url, false
	}
	sorted, differ := compareParameters(query)
	if sorted {
		return url, differ
	}
	var few [24]string
	parameters := few[:0]
	for more := true; more; {
		var p string
		p, query, more = strings.Cut(query, "&")
		parameters = append(parameters, p)
	}
	slices.Sort(parameters)
	b := make([]byte, 0, len(url))
	b = append(b, url[:mark]...)
	for i, p := range parameters {
		b = append(append(b, "?&"[min(i, 1)]), p...)
	}
	return string(b), true
}

// compareParameters reports whether parameters are sorted, and whether any two differ.
func compareParameters(query string) (sorted, differ bool) {
	sorted = true
	before, query, more := strings.Cut(query, "&")
	for more {
		var p string
		p, query, more = strings.Cut(query, "&")
		sorted = sorted && before <= p
		differ = differ || before != p
		before = p
	}
	return sorted, differ
}

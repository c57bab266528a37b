package traps

import (
	"slices"
	"strings"
)

// SortQuery returns the URL that stands for all those with the parameters of url in
// any order: with these sorted as they are written, the values with the names.
// It is url itself, without an allocation, where they are sorted already. Ok is
// false where there is no other order: for fewer than two different parameters.
//
// Whether another order is known must be known exactly, as a guess would lose
// pages, so this package does not remember it. The caller has to remember the twin
// of each URL taken, not the URL alone: of two orders neither may be the sorted
// one.
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

// compareParameters reports whether parameters are in their order, and whether
// any two differ.
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

package httpclient

import (
	"slices"
	"strings"

	"seine/pkg/crawlspec"
)

// accepts is the list of content types that are kept.
type accepts []string

// keeps reports whether a type without parameters is in the list.
func (a accepts) keeps(t string) bool { return crawlspec.InMediaRanges(a, t) }

// and returns the list with more types.
func (a accepts) and(types []string) accepts {
	all := slices.Clone(a)
	for _, t := range types {
		if !all.keeps(t) {
			all = append(all, t)
		}
	}
	return all
}

// header is the value of Accept. Other types come last rather than never, or a
// strict server would refuse to send a robots.txt.
func (a accepts) header() string {
	if a.keeps("*/*") {
		return strings.Join(a, ",")
	}
	return strings.Join(a, ",") + ",*/*;q=0.1"
}

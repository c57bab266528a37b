package httpclient

import (
	"slices"
	"strings"

	"seine/pkg/crawlspec"
)

// accepts is the list of accepted content types.
type accepts []string

// keeps reports whether a type without parameters is in the list. Markdown counts as plain text; it
// is only in the list if a spec asks for it, since some sites send it instead of a page to clients
// that accept it.
func (a accepts) keeps(t string) bool {
	return crawlspec.InMediaRanges(a, t) || t == "text/markdown" && crawlspec.InMediaRanges(a, "text/plain")
}

// and returns the list with more types.
func (a accepts) and(types []string) accepts {
	all := slices.Clone(a)
	for _, t := range types {
		if !crawlspec.InMediaRanges(all, t) {
			all = append(all, t)
		}
	}
	return all
}

// header returns the value of Accept. Other types have a low priority instead of being omitted,
// since a strict server might otherwise refuse to send a robots.txt.
func (a accepts) header() string {
	if a.keeps("*/*") {
		return strings.Join(a, ",")
	}
	return strings.Join(a, ",") + ",*/*;q=0.1"
}

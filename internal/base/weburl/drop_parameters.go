package weburl

import (
	"net/url"
	"slices"
	"strings"
)

// dropMatching applies the first pattern that u matches, and repeats with the result until nothing
// changes.
func (n *Normalizer) dropMatching(u string) string {
	for strings.IndexByte(u, '?') >= 0 {
		i := n.firstMatch(u)
		if i < 0 || len(n.matching[i].Parameters) == 0 {
			return u
		}
		next := dropNamed(u, n.matching[i].Parameters, false)
		if next == u {
			return u
		}
		if n.firstMatch(next) != i {
			// The pattern matches because of the parameter.
			if empty := dropNamed(u, n.matching[i].Parameters, true); empty == u || n.firstMatch(empty) == i {
				return empty
			}
		}
		u = next
	}
	return u
}

// firstMatch returns the index of the first pattern that u matches, -1 for none.
func (n *Normalizer) firstMatch(u string) int {
	return slices.IndexFunc(n.matching, func(m DropMatching) bool { return m.Match.MatchString(u) })
}

// dropNamed returns u without the named parameters, or without their values.
func dropNamed(u string, names []string, valuesOnly bool) string {
	path, query, _ := strings.Cut(u, "?")
	var kept []string
	for pair := range strings.SplitSeq(query, "&") {
		key, _, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(key)
		switch {
		case err != nil || !slices.Contains(names, name):
			kept = append(kept, pair)
		case valuesOnly:
			kept = append(kept, key+"=")
		}
	}
	if rest := strings.Join(kept, "&"); rest != "" {
		return path + "?" + rest
	}
	return path
}

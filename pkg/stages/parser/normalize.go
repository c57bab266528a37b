package parser

import (
	"slices"

	"seine/internal/base/weburl"
)

// normalized normalizes the links of a page, and removes duplicates and the page itself. The
// frontier normalizes them again: doing it here saves messages.
func normalized(links []string, self string, rules *weburl.Normalizer) []string {
	changed := false
	for i, u := range links {
		links[i] = rules.Normalize(u)
		changed = changed || links[i] != u
	}
	if !changed { // as on most pages: then there are no new duplicates
		return links
	}
	seen := make(map[string]bool, len(links))
	seen[self] = true
	return slices.DeleteFunc(links, func(u string) bool {
		known := seen[u]
		seen[u] = true
		return known
	})
}

// Package suggest finds the name that a user most likely meant.
package suggest

import "strings"

// Name returns the most similar of names: one with few differences, or one that begins with the
// written name. It returns "" if none is similar.
func Name(written string, names []string) string {
	const maxName = 64 // longer ones are not misspelt names, and comparing is expensive
	if len(written) > maxName {
		return ""
	}
	joined := strings.NewReplacer("-", "_", " ", "_")
	plain := joined.Replace(strings.ToLower(written))
	best, least := "", max(1, len(plain)/3)+1
	for _, name := range names {
		if d := distance(plain, joined.Replace(name)); d < least && d < len(name) {
			best, least = name, d
		}
	}
	for _, name := range names {
		if best == "" && len(plain) > 2 && strings.HasPrefix(joined.Replace(name), plain) {
			return name
		}
	}
	return best
}

// distance returns the number of insertions, deletions, replacements and swaps of neighbours that
// turn a into b (optimal string alignment).
func distance(a, b string) int {
	before, last, now := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		now[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			now[j] = min(last[j]+1, now[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				now[j] = min(now[j], before[j-2]+1)
			}
		}
		before, last, now = last, now, before
	}
	return last[len(b)]
}

// Package humanize formats numbers for people.
package humanize

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ByCount lists counts with their keys, the largest first.
func ByCount[K ~string](m map[K]int64) string {
	keys := slices.SortedFunc(maps.Keys(m), func(a, b K) int {
		if m[a] != m[b] {
			return int(m[b] - m[a])
		}
		return strings.Compare(string(a), string(b))
	})
	parts := make([]string, len(keys))
	for i, k := range keys {
		parts[i] = fmt.Sprintf("%s %s", Count(m[k]), k)
	}
	return strings.Join(parts, ", ")
}

// Plural returns a number with a noun, such as "2 pages".
func Plural[N int | int64 | uint64](n N, what string) string {
	if n != 1 {
		what += "s"
	}
	return Count(int64(n)) + " " + what
}

// Count formats a number with thousands separators.
func Count(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Size formats a number of bytes.
func Size(n int64) string {
	const units = "kMGTP"
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	v, u := float64(n), -1
	for v >= 999.5 && u < len(units)-1 {
		v, u = v/1000, u+1
	}
	return fmt.Sprintf("%.3g %cB", v, units[u])
}

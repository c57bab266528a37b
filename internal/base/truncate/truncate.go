// Package truncate shortens text at character boundaries.
package truncate

import "unicode/utf8"

// To returns at most the first n bytes of s, which is UTF-8, without splitting a character.
func To[T ~string | ~[]byte](s T, n int) T {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

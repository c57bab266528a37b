// Package ascii maps characters of all scripts to ASCII, and compares bytes ignoring ASCII case, as
// web standards define it: letters outside ASCII are unchanged.
package ascii

import "unicode"

// Lower maps A-Z to a-z and leaves every other byte unchanged.
func Lower(b byte) byte {
	if 'A' <= b && b <= 'Z' {
		b += 'a' - 'A'
	}
	return b
}

// Plain is a mapping for strings.Map. It converts digits, spaces and full-width forms of all
// scripts to ASCII, drops format characters such as U+200E, and leaves every other character
// unchanged.
func Plain(r rune) rune {
	const fullWidth = 0xff01 - '!' // offset between a full-width form and its character, up to "~"
	switch {
	case r <= unicode.MaxASCII:
		return r
	case r >= fullWidth+'!' && r <= fullWidth+'~':
		return r - fullWidth
	case unicode.Is(unicode.Zs, r):
		return ' '
	case unicode.Is(unicode.Cf, r):
		return -1
	case !unicode.Is(unicode.Nd, r):
		return r
	}
	n := rune(0) // number of preceding digits; groups have ten digits each
	for unicode.Is(unicode.Nd, r-n-1) {
		n++
	}
	return '0' + n%10
}

// Is reports whether b equals lower, ignoring the case of b. lower must be in lower case.
func Is(b []byte, lower string) bool {
	return len(b) == len(lower) && HasPrefix(b, lower)
}

// HasPrefix reports whether b begins with lower, ignoring the case of b. lower must be in lower
// case.
func HasPrefix(b []byte, lower string) bool {
	if len(b) < len(lower) {
		return false
	}
	for i := range len(lower) {
		if Lower(b[i]) != lower[i] {
			return false
		}
	}
	return true
}

// Package ascii maps digits of all scripts to ASCII, and compares bytes without regard to ASCII case, as the standards of
// the web mean it: letters beyond ASCII are what they are.
package ascii

import "unicode"

// Lower maps A-Z to a-z and leaves every other byte alone.
func Lower(b byte) byte {
	if 'A' <= b && b <= 'Z' {
		b += 'a' - 'A'
	}
	return b
}

// Digit maps a decimal digit of any script to that of ASCII, and leaves every other
// character alone.
func Digit(r rune) rune {
	if r <= unicode.MaxASCII || !unicode.Is(unicode.Nd, r) {
		return r
	}
	n := rune(0) // of digits before it: groups have ten each
	for unicode.Is(unicode.Nd, r-n-1) {
		n++
	}
	return '0' + n%10
}

// Is reports whether b equals lower, which is in lower case, without regard to
// case.
func Is(b []byte, lower string) bool {
	return len(b) == len(lower) && HasPrefix(b, lower)
}

// HasPrefix reports whether b begins with lower, which is in lower case, without
// regard to case.
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

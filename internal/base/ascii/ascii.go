// Package ascii maps characters of all scripts to ASCII, and compares bytes without regard to ASCII case, as the standards
// of the web mean it: letters beyond ASCII are left alone.
package ascii

import "unicode"

// Lower maps A-Z to a-z and leaves every other byte alone.
func Lower(b byte) byte {
	if 'A' <= b && b <= 'Z' {
		b += 'a' - 'A'
	}
	return b
}

// Plain is a mapping for strings.Map that writes digits, spaces and full-width forms of all scripts as ASCII has them, and
// drops characters that format text, such as U+200E. It leaves every other character alone.
func Plain(r rune) rune {
	const fullWidth = 0xff01 - '!' // between the forms and their characters, up to "~"
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

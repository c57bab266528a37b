// Package ascii compares bytes without regard to ASCII case, as the standards of
// the web mean it: letters beyond ASCII are what they are.
package ascii

// Lower maps A-Z to a-z and leaves every other byte alone.
func Lower(b byte) byte {
	if 'A' <= b && b <= 'Z' {
		b += 'a' - 'A'
	}
	return b
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

package ascii

// Unhex returns the value of a hexadecimal digit, and whether c is one.
func Unhex(c byte) (value byte, ok bool) {
	switch c = Lower(c); {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10, true
	}
	return 0, false
}

// Unescape decodes a percent-encoded byte at the start of a text, if there is one (RFC 3986 section
// 2.1).
func Unescape(text string) (c byte, ok bool) {
	if len(text) < 3 || text[0] != '%' {
		return 0, false
	}
	high, ok1 := Unhex(text[1])
	low, ok2 := Unhex(text[2])
	return high<<4 | low, ok1 && ok2
}

// AppendEscape appends a percent-encoded byte.
func AppendEscape(out []byte, c byte) []byte {
	const digits = "0123456789ABCDEF"
	return append(out, '%', digits[c>>4], digits[c&15])
}

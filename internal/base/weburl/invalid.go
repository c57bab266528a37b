package weburl

import (
	"strings"
	"unicode/utf8"
)

// EscapeInvalid percent-encodes the bytes of a reference that are not UTF-8. A server
// that writes such a byte into a Location header or a sitemap knows the URL by it;
// the URL standard knows characters alone, and would make U+FFFD of it.
func EscapeInvalid(ref string) string {
	if utf8.ValidString(ref) {
		return ref
	}
	var b strings.Builder
	for len(ref) > 0 {
		r, size := utf8.DecodeRuneInString(ref)
		if r == utf8.RuneError && size == 1 {
			const digits = "0123456789ABCDEF"
			b.Write([]byte{'%', digits[ref[0]>>4], digits[ref[0]&15]})
		} else {
			b.WriteString(ref[:size])
		}
		ref = ref[size:]
	}
	return b.String()
}

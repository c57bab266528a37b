package weburl

import (
	"unicode/utf8"

	"seine/internal/base/ascii"
)

// EscapeInvalid percent-encodes the bytes of a reference that are not UTF-8. A server
// that writes such a byte into a Location header or a sitemap knows the URL by it;
// the URL standard knows characters alone, and would make U+FFFD of it.
func EscapeInvalid(ref string) string {
	if utf8.ValidString(ref) {
		return ref
	}
	var out []byte
	for len(ref) > 0 {
		r, size := utf8.DecodeRuneInString(ref)
		if r == utf8.RuneError && size == 1 {
			out = ascii.AppendEscape(out, ref[0])
		} else {
			out = append(out, ref[:size]...)
		}
		ref = ref[size:]
	}
	return string(out)
}

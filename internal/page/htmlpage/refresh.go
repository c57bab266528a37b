package htmlpage

import (
	"bytes"

	"seine/internal/base/ascii"
)

// refreshURL extracts the URL from a meta refresh's content by the shared declarative refresh steps
// (section 4.2.5.3). It returns false if the content is not a refresh. The URL is empty for a
// refresh that reloads the page.
func refreshURL(content []byte) ([]byte, bool) {
	i := skip(content, 0, isSpace)
	digits := skip(content, i, isDigit)
	if digits == i && (i == len(content) || content[i] != '.') {
		return nil, false
	}
	for i = digits; i < len(content) && (has(content[i], isDigit) || content[i] == '.'); {
		i++
	}
	rest := content[i:]
	if len(rest) == 0 {
		return nil, true
	}
	if !has(rest[0], isSpace) && !isRefreshMark(rest[0]) {
		return nil, false
	}
	rest = skipSpace(rest)
	if len(rest) > 0 && isRefreshMark(rest[0]) {
		rest = skipSpace(rest[1:])
	}
	return unquote(skipURLKey(rest)), true
}

func isRefreshMark(b byte) bool { return b == ';' || b == ',' }

func skipSpace(b []byte) []byte { return b[skip(b, 0, isSpace):] }

// skipURLKey drops a leading "url =". An incomplete one is part of the URL.
func skipURLKey(b []byte) []byte {
	if !ascii.HasPrefix(b, "url") {
		return b
	}
	rest := skipSpace(b[len("url"):])
	if len(rest) == 0 || rest[0] != '=' {
		return b
	}
	return skipSpace(rest[1:])
}

// unquote drops an opening quote, and everything from the closing one on, if any.
func unquote(b []byte) []byte {
	if len(b) == 0 || b[0] != '"' && b[0] != '\'' {
		return b
	}
	quote := b[0]
	b = b[1:]
	if i := bytes.IndexByte(b, quote); i >= 0 {
		return b[:i]
	}
	return b
}

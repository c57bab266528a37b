package mediatype

import (
	"strings"
	"unicode"
)

// Declared returns the type in a Content-Type, in lower case and without parameters, or "" if there
// is none. It is lenient: parameters may be malformed or lack their semicolon, the type may be in
// quotes, and if there are several types, the last valid one counts, as in "extract a MIME type" of
// the Fetch standard.
func Declared(contentType string) string {
	media, _ := read(contentType)
	return media
}

// Charset returns the charset parameter of a Content-Type, or "". If there are several types, the
// last one counts, and inherits the parameter from an earlier one of the same type.
func Charset(contentType string) string {
	_, charset := read(contentType)
	return charset
}

func read(contentType string) (media, charset string) {
	for len(contentType) > 0 {
		var one string
		one, contentType = CutField(contentType)
		t := typeOf(one)
		if t == "" || t == "*/*" && media != "" {
			continue
		}
		if t != media {
			charset = ""
		}
		if c := charsetOf(one); c != "" && t != "*/*" {
			charset = c
		}
		media = t
	}
	return media, charset
}

func charsetOf(field string) string {
	for rest := field; ; {
		var found bool
		if _, rest, found = strings.Cut(rest, ";"); !found {
			return ""
		}
		var name, value string
		name, value, rest = CutParameter(rest)
		if strings.EqualFold(name, "charset") && value != "" && !strings.ContainsFunc(value, unicode.IsControl) {
			return value
		}
	}
}

// CutField cuts a list of values, such as types, at its first comma outside quotes ("get, decode,
// and split" of the Fetch standard). An unclosed quote extends to the end.
func CutField(s string) (field, rest string) {
	if strings.IndexByte(s, ',') < 0 {
		return s, ""
	}
	quoted := false
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '"':
			quoted = !quoted
		case s[i] == '\\' && quoted:
			i++
		case s[i] == ',' && !quoted:
			return s[:i], s[i+1:]
		}
	}
	return s, ""
}

// typeOf returns the type at the beginning of s.
func typeOf(s string) string {
	s = strings.Trim(s, " \t\r\n\"'")
	if end := strings.IndexAny(s, "; \t\r\n\"'"); end >= 0 {
		s = s[:end]
	}
	major, minor, ok := strings.Cut(s, "/")
	if !ok || !isToken(major) || !isToken(minor) {
		return ""
	}
	return strings.ToLower(s)
}

// CutParameter cuts a parameter, after its ";", off s (RFC 8288, appendix B.3). Space between the
// name and "=", which Link headers may have and HTTP does not allow, is left in the name.
func CutParameter(s string) (name, value, rest string) {
	s = strings.TrimLeft(s, space)
	end := strings.IndexAny(s, "=;,")
	if end < 0 {
		return s, "", ""
	}
	if name, s = s[:end], s[end:]; s[0] != '=' {
		return name, "", s
	}
	s = strings.TrimLeft(s[1:], space)
	if s != "" && s[0] == '"' {
		value, rest = cutQuoted(s[1:])
		return name, value, rest
	}
	if end = strings.IndexAny(s, ";,"); end < 0 {
		end = len(s)
	}
	return name, strings.TrimRight(s[:end], space), s[end:]
}

const space = " \t\r\n"

// cutQuoted cuts a quoted string, after its opening quote, off s, and returns it without its
// backslashes (RFC 9110, section 5.6.4). The closing quote may be missing.
func cutQuoted(s string) (value, rest string) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '"':
			return b.String(), s[i+1:]
		case s[i] == '\\' && i+1 < len(s):
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String(), ""
}

// isToken reports whether s is a token of RFC 9110, section 5.6.2.
func isToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		alphanumeric := '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
		if !alphanumeric && strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0 {
			return false
		}
	}
	return s != ""
}

// apacheBug reports whether a header is one that servers sent for unknown content (section 5.1 of
// the standard).
func apacheBug(contentType string) bool {
	switch contentType {
	case "text/plain", "text/plain; charset=ISO-8859-1", "text/plain; charset=iso-8859-1", "text/plain; charset=UTF-8":
		return true
	}
	return false
}

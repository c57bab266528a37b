package robots

import (
	"strings"

	"seine/internal/base/ascii"
)

// Octets of a URI by RFC 3986 sections 2.2 and 2.3.
const (
	unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
	genDelims  = ":/?#[]@"
	subDelims  = "!$&'()*+,;="
	// special octets of a path pattern, RFC 9309 section 2.2.3; to match them literally, a file
	// must encode them.
	wildcards = "*$"
)

var (
	isUnreserved = setOf(unreserved)
	// isPlain marks the octets that comparable form does not encode.
	isPlain = setOf(strings.Map(dropWildcard, unreserved+genDelims+subDelims))
)

// encodePath converts the path and query of a URI to the form in which rules are compared, RFC 9309
// section 2.2.2: non-ASCII and wildcard octets encoded, encoded unreserved octets decoded,
// hexadecimal digits in upper case. Encoded reserved octets stay encoded, so %2F is not a slash.
func encodePath(uri string) string {
	path, _, _ := strings.Cut(uri, "#")
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return encode(path)
}

// encodePattern does the same for a path pattern, whose stars and final dollar it keeps. It returns
// pattern itself if nothing changes.
func encodePattern(pattern string) string {
	body := strings.TrimSuffix(pattern, "$")
	parts := strings.Split(body, "*")
	for i, p := range parts {
		parts[i] = encode(p)
	}
	encoded := strings.Join(parts, "*")
	if encoded == body {
		return pattern
	}
	return encoded + pattern[len(body):]
}

// encode returns s itself if nothing changes.
func encode(s string) string {
	i := 0
	for i < len(s) && isPlain[s[i]] {
		i++
	}
	if i == len(s) {
		return s
	}
	out := append(make([]byte, 0, len(s)+16), s[:i]...)
	for i < len(s) {
		c, size := s[i], 1
		if escaped, ok := ascii.Unescape(s[i:]); ok {
			c, size = escaped, 3
		}
		if keep := size == 1 && isPlain[c] || isUnreserved[c]; keep {
			out = append(out, c)
		} else {
			out = ascii.AppendEscape(out, c)
		}
		i += size
	}
	return string(out)
}

// queryDelims decodes the delimiters that a query may hold unencoded, RFC 3986
// section 3.4, and the brackets that browsers leave unencoded there.
var queryDelims = strings.NewReplacer("%3A", ":", "%2F", "/", "%3F", "?", "%40", "@", "%5B", "[", "%5D", "]")

// openQuery returns a comparable form with the delimiters in its query decoded. After the question
// mark they separate nothing, and the examples of RFC 9309 section 2.2.2 treat
// /foo/bar?baz=http://foo.bar as equal to its encoded spelling. Both forms of a path are compared
// with both forms of a pattern, because after a star it is unknown whether a pattern refers to the
// path or the query.
func openQuery(s string) string {
	i := strings.IndexByte(s, '?')
	if i < 0 || strings.IndexByte(s[i:], '%') < 0 {
		return s
	}
	return s[:i] + queryDelims.Replace(s[i:])
}

var encodedDelims = strings.NewReplacer(":", "%3A", "/", "%2F", "?", "%3F", "@", "%40", "[", "%5B", "]", "%5D")

// closeQuery returns a comparable form of a path with the delimiters in its query encoded. It is
// for patterns that begin with a star and have them encoded, as in /*=http%3A, which do not show
// that they refer to a query.
func closeQuery(s string) string {
	i := strings.IndexByte(s, '?') + 1
	if i == 0 || !strings.ContainsAny(s[i:], ":/?@[]") {
		return s
	}
	return s[:i] + encodedDelims.Replace(s[i:])
}

func setOf(octets string) (set [256]bool) {
	for i := range len(octets) {
		set[octets[i]] = true
	}
	return set
}

func dropWildcard(r rune) rune {
	if strings.ContainsRune(wildcards, r) {
		return -1
	}
	return r
}

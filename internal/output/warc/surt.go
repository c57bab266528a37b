package warc

import (
	"bytes"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"

	"seine/internal/base/lazyregexp"
)

// SURT returns the key of a URL in indexes. The key of a urn: is the urn itself. For http or https,
// url must be canonical; the key is "com,example)/path?query". It equals the result of the Internet
// Archive's package surt, which pywb and CDX servers use: the reversed host without "www.", in
// lower case, without a trailing slash, with a sorted query and without session IDs. All escapes
// are normalized.
func SURT(url string) string {
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok || strings.HasPrefix(url, "urn:") {
		return strings.ReplaceAll(url, " ", "%20")
	}
	authority, rest := cutBefore(rest, "/?#")
	path, query := cutBefore(rest, "?#")
	host, port := splitPort(authority, scheme)
	key := surtHost(strings.ToLower(host)) + port + ")" + surtPath(path)
	query, _, _ = strings.Cut(strings.TrimPrefix(query, "?"), "#")
	if query = surtQuery(query); query != "" {
		key += "?" + query
	}
	return key
}

// cutBefore splits s before the first byte that is in any.
func cutBefore(s, any string) (before, rest string) {
	if i := strings.IndexAny(s, any); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}

// splitPort returns the host, and the port with its colon unless it is the scheme's default.
func splitPort(authority, scheme string) (host, port string) {
	i := strings.LastIndexByte(authority, ':')
	if i < 0 || strings.HasSuffix(authority, "]") {
		return authority, ""
	}
	host, port = authority[:i], authority[i:]
	if scheme == "http" && port == ":80" || scheme == "https" && port == ":443" {
		return host, ""
	}
	return host, port
}

var wwwDigits = lazyregexp.New(`^www\d*\.`)

func surtHost(host string) string {
	labels := strings.Split(host[len(wwwDigits().FindString(host)):], ".")
	slices.Reverse(labels)
	return strings.Join(labels, ",")
}

var (
	slashes = lazyregexp.New(`//+`)
	// Session IDs in paths of ASP.NET.
	pathSessions = []func() *regexp.Regexp{
		lazyregexp.New(`(?i)^(.*/)(?:\((?:[a-z]\([0-9a-z]{24}\))+\)/)([^?]+\.aspx.*)$`),
		lazyregexp.New(`(?i)^(.*/)(?:\([0-9a-z]{24}\)/)([^?]+\.aspx.*)$`),
	}
	querySessions = []func() *regexp.Regexp{
		lazyregexp.New(`(?i)^(.*)(?:jsessionid=[0-9a-z]{32})(?:&(.*))?$`),
		lazyregexp.New(`(?i)^(.*)(?:phpsessid=[0-9a-z]{32})(?:&(.*))?$`),
		lazyregexp.New(`(?i)^(.*)(?:sid=[0-9a-z]{32})(?:&(.*))?$`),
		lazyregexp.New(`(?i)^(.*)(?:aspsessionid[a-z]{8}=[a-z]{24})(?:&(.*))?$`),
		lazyregexp.New(`(?i)^(.*)(?:cfid=[^&]+&cftoken=[^&]+)(?:&(.*))?$`),
	}
)

func surtPath(path string) string {
	path = strings.ToLower(escapeOnce(slashes().ReplaceAllString("/"+unescapeAll(path), "/")))
	for _, p := range pathSessions {
		path = p().ReplaceAllString(path, "$1$2")
	}
	if len(path) > 1 {
		path = strings.TrimSuffix(path, "/")
	}
	return path
}

func surtQuery(query string) string {
	query = escapeOnce(unescapeAll(query))
	for _, p := range querySessions {
		query = p().ReplaceAllString(query, "$1$2")
	}
	args := strings.Split(strings.ToLower(query), "&")
	slices.SortStableFunc(args, func(a, b string) int {
		aName, aValue, aHas := strings.Cut(a, "=")
		bName, bValue, bHas := strings.Cut(b, "=")
		switch c := strings.Compare(aName, bName); {
		case c != 0:
			return c
		case aHas != bHas && bHas:
			return -1
		case aHas != bHas:
			return 1
		}
		return strings.Compare(aValue, bValue)
	})
	return strings.Join(args, "&")
}

// unescapeAll decodes percent-escapes repeatedly until none are left.
func unescapeAll(s string) string {
	for strings.Contains(s, "%") {
		u := unescape(s)
		if u == s {
			break
		}
		s = u
	}
	return s
}

func unescape(s string) string {
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if c, err := hex.DecodeString(s[i+1 : i+3]); err == nil {
				b = append(b, c...)
				i += 2
				continue
			}
		}
		b = append(b, s[i])
	}
	return string(b)
}

// escapeOnce escapes '%', '#' and everything that is not printable ASCII.
func escapeOnce(s string) string {
	const digits = "0123456789ABCDEF"
	var b bytes.Buffer
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7f || c == '%' || c == '#' {
			b.WriteByte('%')
			b.WriteByte(digits[c>>4])
			b.WriteByte(digits[c&15])
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

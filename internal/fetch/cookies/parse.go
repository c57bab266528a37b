package cookies

import (
	"math"
	"strconv"
	"strings"
	"time"

	"seine/internal/base/dates"
)

// Limits of one cookie, in bytes.
const (
	maxPair      = 4096 // of name and value; a longer cookie is ignored
	maxAttribute = 1024 // of a value; a longer attribute is ignored
)

// cookie is a stored cookie.
type cookie struct {
	name, value string
	domain      string // without a leading dot
	hostOnly    bool   // only domain itself gets it, not its subdomains
	path        string
	secure      bool      // only https gets it
	expires     time.Time // zero means the end of the process
	created     uint64    // order of creation
	used        uint64    // order of the last use
}

// field is a parsed Set-Cookie field.
type field struct {
	name, value string
	domain      string // "" means the host of the request
	path        string // "" means the path of the request
	secure      bool
	expires     time.Time // zero if unset
}

// parse parses the value of a Set-Cookie field (RFC 6265 5.2). It returns false for a field that
// must be ignored.
func parse(text string, now time.Time) (f field, ok bool) {
	if strings.ContainsFunc(text, isControl) {
		return field{}, false
	}
	pair, attributes, _ := strings.Cut(text, ";")
	f.name, f.value, ok = strings.Cut(pair, "=")
	f.name, f.value = trim(f.name), trim(f.value)
	if !ok || f.name == "" || len(f.name)+len(f.value) > maxPair {
		return field{}, false
	}
	var expires, maxAge time.Time
	for attribute := range strings.SplitSeq(attributes, ";") {
		name, value, _ := strings.Cut(attribute, "=")
		if value = trim(value); len(value) > maxAttribute {
			continue
		}
		switch strings.ToLower(trim(name)) {
		case "expires":
			if d, ok := dates.Parse(value, time.UTC); ok {
				expires = d.Time
			}
		case "max-age":
			if at, ok := parseMaxAge(value, now); ok {
				maxAge = at
			}
		case "domain":
			if value != "" {
				f.domain = strings.ToLower(strings.TrimPrefix(value, "."))
			}
		case "path":
			f.path = ""
			if strings.HasPrefix(value, "/") {
				f.path = value
			}
		case "secure":
			f.secure = true
		}
	}
	if f.expires = maxAge; maxAge.IsZero() {
		f.expires = expires
	}
	return f, true
}

// isControl reports whether r is forbidden in header fields; a tab is white space.
func isControl(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }

// trim removes what the RFC calls WSP.
func trim(s string) string { return strings.Trim(s, " \t") }

// longest is the maximum effective Max-Age; browsers allow about a year.
const longest = 400 * 24 * time.Hour

// parseMaxAge returns the expiry of a cookie that is set now. A cookie whose age is not positive
// has expired.
func parseMaxAge(text string, now time.Time) (time.Time, bool) {
	digits := strings.TrimPrefix(text, "-")
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return time.Time{}, false
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil { // out of range
		seconds = math.MaxInt64
	}
	if seconds <= 0 || text[0] == '-' {
		return now, true
	}
	return now.Add(time.Duration(min(seconds, int64(longest/time.Second))) * time.Second), true
}

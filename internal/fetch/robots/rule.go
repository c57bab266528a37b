package robots

import (
	"slices"
	"strings"

	"seine/internal/base/lazyregexp"
)

// rule is one Allow or Disallow line.
type rule struct {
	// pattern is the path pattern in comparable form, see encodePattern.
	pattern string
	// raw is the path pattern as written.
	raw string
	// octets is the length by which the rule is ranked.
	octets int32
	allow  bool
}

// appendRules adds the rule for a path pattern: none if the pattern can match no
// path, two if its query has a second comparable form.
func appendRules(rules []rule, raw string, allow bool) []rule {
	path := raw
	if !allow && raw != "" && raw[0] != '*' && raw[0] != '$' {
		path = startOfPath().ReplaceAllLiteralString(raw, "/")
		if strings.EqualFold(raw, "all") {
			path = "/"
		}
	}
	if path == "" || (path[0] != '/' && path[0] != '*') {
		return rules
	}
	r := rule{pattern: encodePattern(path), raw: raw, allow: allow}
	r.octets = int32(len(r.pattern)) //nolint:gosec // at most three times MaxBytes
	rules = append(rules, r)
	if open := openQuery(r.pattern); open != r.pattern {
		r.pattern = open
		rules = append(rules, r)
	}
	return rules
}

// startOfPath matches the start of a path in a Disallow, whose slash may be missing.
var startOfPath = lazyregexp.New(`(?i)^(?:https?://[^/]*|\.)?[/\\]?`)

// String returns the line as a robots.txt would write it.
func (r *rule) String() string {
	if r.allow {
		return "Allow: " + r.raw
	}
	return "Disallow: " + r.raw
}

// beats reports whether r takes precedence when both match: it has more octets, or as many and
// allows what the other forbids, RFC 9309 section 2.2.2.
func (r *rule) beats(other *rule) bool {
	if r.octets != other.octets {
		return r.octets > other.octets
	}
	return r.allow && !other.allow
}

// rank sorts rules by precedence, keeping file order between equals, and drops duplicates.
func rank(rules []rule) []rule {
	slices.SortStableFunc(rules, func(a, b rule) int {
		switch {
		case a.beats(&b):
			return -1
		case b.beats(&a):
			return 1
		}
		return strings.Compare(a.pattern, b.pattern)
	})
	rules = slices.CompactFunc(rules, func(a, b rule) bool {
		return a.allow == b.allow && a.pattern == b.pattern && a.octets == b.octets
	})
	return slices.Clip(rules)
}

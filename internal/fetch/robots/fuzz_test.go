package robots

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func FuzzParse(f *testing.F) {
	f.Add([]byte(simpleExample), "foobot", "/example/page.html?a=%2f")
	f.Add([]byte("\xef\xbb\xbfuser-agent:*\r\ndisallow:*a*b$\rcrawl-delay:1e9\nsitemap:x"), "*", "a*$#")
	f.Add([]byte("User-agent: a\nUser-agent: b\nAllow: /%\nDisallow: /?%2F%3a\n"), "A/1", "/?//%3A")
	f.Fuzz(func(t *testing.T, body []byte, product, path string) {
		file := Parse(body)
		g := file.Group(product)
		allowed, line := g.Allowed(path), g.Rule(path)
		if allowed == strings.HasPrefix(line, "Disallow: ") {
			t.Errorf("Allowed = %v but Rule = %q", allowed, line)
		}
		if !g.Allowed("/robots.txt") {
			t.Error("/robots.txt is not allowed")
		}
		if d, found := g.CrawlDelay(); d < 0 || d > MaxCrawlDelay || (d > 0 && !found) {
			t.Errorf("CrawlDelay = %v, %v", d, found)
		}
		wantBounded(t, file, body)
	})
}

// wantBounded checks that a file holds no more than its body can contain.
func wantBounded(t *testing.T, f *File, body []byte) {
	t.Helper()
	lines := 1 + strings.Count(string(body), "\n") + strings.Count(string(body), "\r")
	lines += len(body) / 3 // tags end lines, too
	sections, rules := 0, map[*section]int{}
	for _, g := range f.groups {
		sections += len(g.sections)
		for _, s := range g.sections {
			rules[s] = len(s.rules)
		}
	}
	total := 0
	for _, n := range rules {
		total += n
	}
	if sections > lines || total > 2*lines || len(f.sitemaps) > lines {
		t.Errorf("%d lines gave %d sections, %d rules, %d sitemaps", lines, sections, total, len(f.sitemaps))
	}
}

// FuzzMatch compares the decision between two rules with one reached by regular
// expressions over an independent percent-decoder.
func FuzzMatch(f *testing.F) {
	f.Add("/a*b$", "/*", "/a-b-b")
	f.Add("/%7Ejoe/$", "/~joe*%2f", "/%7ejoe/%2F")
	f.Add("*a*a*a*b", "/ツ*", "/%e3%83%84aaaaab")
	f.Add("/a$b*$", "/%2A%24", "/*$b$")
	f.Add("/r?u=%2F", "/*=/", "/r?u=/%5B")
	f.Fuzz(func(t *testing.T, allow, disallow, path string) {
		allow, disallow = oneLine(allow), oneLine(disallow)
		if trimValue(allow) != allow || trimValue(disallow) != disallow || disallow != "" && !strings.ContainsRune("/*$", rune(disallow[0])) || strings.ContainsAny(allow+disallow, "<, \t\v\f") {
			return // the tables test what a site means by this
		}
		g := Parse([]byte("User-agent: *\nAllow: " + allow + "\nDisallow: " + disallow)).Group("seine")
		if got, want := g.Allowed(path), oracleAllowed(allow, disallow, path); got != want {
			t.Errorf("allow %q, disallow %q: Allowed(%q) = %v, want %v", allow, disallow, path, got, want)
		}
	})
}

// FuzzFile compares the decisions of a complete file with an implementation that keeps the groups
// as written and checks every rule.
func FuzzFile(f *testing.F) {
	for _, seed := range rfc9309 {
		if len(seed.file) < 1000 {
			f.Add(seed.file, seed.agent, seed.path)
		}
	}
	f.Fuzz(func(t *testing.T, file, product, path string) {
		if len(file) > MaxBytes {
			return
		}
		read := Parse([]byte(file))
		if len(read.Notes()) > 0 || strings.ContainsAny(file, "<,;\x00") || notPaths.MatchString(file) {
			return // not of the form of RFC 9309: the tables test what a site means by this
		}
		got, want := read.Group(product).Allowed(path), oracleFile(file, product, path)
		if got != want {
			t.Errorf("%q\n%q asks for %q: %v, want %v", file, product, path, access(got), access(want))
		}
	})
}

// notPaths matches values of Disallow that are not paths.
var notPaths = regexp.MustCompile(`(?i)disallow[ \t\v\f]*:[ \t\v\f]*[^/*$# \t\v\f\r\n]`)

// oracleGroup is a group as written: field names in lower case, then values.
type oracleGroup struct {
	agents []string
	rules  [][2]string
}

func oracleFile(file, product, path string) bool {
	groups := oracleGroups(file)
	token := oracleToken(product)
	mine := func(token string) func(oracleGroup) bool {
		return func(g oracleGroup) bool { return slices.Contains(g.agents, token) }
	}
	if token == "" || !slices.ContainsFunc(groups, mine(token)) {
		token = "*"
	}
	allowed, longest := true, -1
	for _, g := range groups {
		for _, r := range g.rules {
			if !mine(token)(g) || oracleAllowed("", r[1], path) {
				continue
			}
			allow, n := r[0] == "allow", oracleLength(r[1])
			if n > longest || n == longest && allow {
				allowed, longest = allow, n
			}
		}
	}
	return allowed
}

var oracleLine = regexp.MustCompile(`^[ \t\v\f]*([A-Za-z-]+)(?:[ \t\v\f]*:[ \t\v\f]*([^#]*)|[ \t\v\f]+([^ \t\v\f:#]+)[ \t\v\f]*(?:#.*)?$)`)

func oracleGroups(file string) (groups []oracleGroup) {
	naming := false
	for _, line := range regexp.MustCompile(`[\r\n]`).Split(strings.TrimPrefix(file, "\xef\xbb\xbf"), -1) {
		m := oracleLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		name, value := strings.ToLower(m[1]), strings.Trim(m[2]+m[3], whitespace)
		last := len(groups) - 1
		switch {
		case name == "user-agent" && naming:
			groups[last].agents = append(groups[last].agents, oracleToken(value))
		case name == "user-agent":
			groups, naming = append(groups, oracleGroup{agents: []string{oracleToken(value)}}), true
		case (name == "allow" || name == "disallow") && last >= 0:
			groups[last].rules, naming = append(groups[last].rules, [2]string{name, value}), false
		}
	}
	return groups
}

// oracleToken returns "*" for a word of stars and dots, or the letters, underscores and hyphens at
// the start of s. A comment in parentheses does not belong to it.
func oracleToken(s string) string {
	s, _, _ = strings.Cut(s, "(")
	if words := strings.Fields(s); len(words) > 0 && strings.Trim(words[0], "*.＊") == "" {
		return "*"
	}
	return strings.ToLower(regexp.MustCompile(`^[A-Za-z_-]*`).FindString(s))
}

// oneLine makes s a value that survives parsing unchanged.
func oneLine(s string) string {
	s, _, _ = strings.Cut(s, "#")
	s = strings.Map(func(r rune) rune {
		if r == '\r' || r == '\n' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	return strings.Trim(s, whitespace)
}

func oracleAllowed(allow, disallow, path string) bool {
	path, _, _ = strings.Cut(path, "#")
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	if strings.Join(octets(path, ""), "") == "/robots.txt" || !oracleMatches(disallow, path) {
		return true
	}
	return oracleMatches(allow, path) && oracleLength(allow) >= oracleLength(disallow)
}

// oracleMatches tries all spellings of query delimiters on both sides.
func oracleMatches(pattern, path string) bool {
	if pattern == "" || !strings.ContainsAny(pattern[:1], "/*") {
		return false
	}
	for _, ofPattern := range []map[string]string{nil, decoded} {
		expr := regexp.MustCompile(oracleExpr(pattern, ofPattern))
		for _, ofPath := range []map[string]string{nil, decoded, encoded} {
			if expr.MatchString(strings.Join(inQuery(octets(path, ""), ofPath), "")) {
				return true
			}
		}
	}
	return false
}

func oracleExpr(pattern string, spelling map[string]string) string {
	var b strings.Builder
	b.WriteString("^")
	tokens := inQuery(octets(pattern, "*"), spelling)
	for i, tok := range tokens {
		switch {
		case tok == "*":
			b.WriteString(".*")
		case tok == "%24" && i == len(tokens)-1 && strings.HasSuffix(pattern, "$"):
			b.WriteString("$")
		default:
			b.WriteString(regexp.QuoteMeta(tok))
		}
	}
	return b.String()
}

func oracleLength(pattern string) int {
	n := len(strings.Join(octets(pattern, "*"), ""))
	if strings.HasSuffix(pattern, "$") {
		n -= len("%24") - len("$")
	}
	return n
}

var escape = regexp.MustCompile(`^%[0-9A-Fa-f]{2}`)

// octets returns the spelling of each octet of s: itself if it is unreserved, or if it is unencoded
// and either allowed in URIs or in verbatim; else percent-encoded.
func octets(s, verbatim string) []string {
	const uri = "!&'()+,;=:/?[]@"
	var out []string
	for s != "" {
		c, raw := s[0], true
		if esc := escape.FindString(s); esc != "" {
			_, _ = fmt.Sscanf(esc[1:], "%02x", &c)
			raw, s = false, s[2:]
		}
		s = s[1:]
		if strings.IndexByte(unreserved, c) >= 0 || raw && strings.IndexByte(uri+verbatim, c) >= 0 {
			out = append(out, string(rune(c)))
		} else {
			out = append(out, fmt.Sprintf("%%%02X", c))
		}
	}
	return out
}

// Spellings of the delimiters in a query.
var (
	decoded = map[string]string{"%3A": ":", "%2F": "/", "%3F": "?", "%40": "@", "%5B": "[", "%5D": "]"}
	encoded = map[string]string{":": "%3A", "/": "%2F", "?": "%3F", "@": "%40", "[": "%5B", "]": "%5D"}
)

// inQuery respells the delimiters after the first question mark.
func inQuery(tokens []string, spelling map[string]string) []string {
	query := false
	for i, tok := range tokens {
		if respelt, ok := spelling[tok]; ok && query {
			tokens[i] = respelt
		}
		query = query || tok == "?"
	}
	return tokens
}

func FuzzEncode(f *testing.F) {
	f.Add("/%7e%2f%zz%")
	f.Fuzz(func(t *testing.T, s string) {
		once := encode(s)
		if twice := encode(once); twice != once {
			t.Errorf("encode(%q) = %q, then %q", s, once, twice)
		}
		if p := encodePattern(s); encodePattern(p) != p {
			t.Errorf("encodePattern(%q) = %q, then %q", s, p, encodePattern(p))
		}
	})
}

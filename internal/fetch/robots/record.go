package robots

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"seine/internal/base/lazyregexp"
	"seine/internal/base/suggest"
)

// fieldNames are the fields that Parse knows.
var fieldNames = []string{"disallow", "allow", "user-agent", "crawl-delay", "request-rate", "sitemap"}

// record is a parsed line: its field, "" if it is none of fieldNames, and whether the line conforms
// to RFC 9309.
type record struct {
	field, value string
	exact        bool
}

var (
	// noColon matches a line whose name is its first word or two, and whose value is the next, as
	// in Google's parser (GetKeyAndValueFrom of robots.cc). Further words make it prose, unless it
	// is a Disallow.
	noColon = lazyregexp.New(`(?i)^[^a-z]*([^\s=;,：:/*]+(?:\s(?:agent|delay|rate|map|allow)\b)?)(?:[\s=;,：]+|([/*]))(\S*)(.*)$`)
	// joined matches the start of a record after the value of another: line ends were lost, or are
	// written as "\n".
	joined = lazyregexp.New(`(?i)(?:[\s,]|\\[rn])+(user-agent|disallow|allow|crawl-delay|sitemap)[ \t]*:`)
)

// readRecord parses a line without its comment. It tolerates misspelt names, forgotten colons, and
// invisible characters around names and values: a line forbids what its site plainly meant to
// forbid.
func readRecord(text string) record {
	line := strings.TrimLeftFunc(text, isInvisible)
	if strings.HasPrefix(line, "//") || strings.HasPrefix(line, ";") {
		return record{} // a comment, as other languages write it
	}
	name, value, colon := strings.Cut(line, ":")
	if field := fieldOf(name); colon && field != "" && !strings.Contains(name, "/") {
		r := record{field: field, value: trimValue(value)}
		r.exact = strings.ToLower(strings.TrimRight(name, whitespace)) == field && strings.Trim(value, whitespace) == r.value &&
			strings.TrimLeft(text, whitespace) == line && (field == "user-agent" || !strings.ContainsFunc(r.value, unicode.IsSpace))
		return r
	}
	m := noColon().FindStringSubmatch(line)
	if m == nil {
		return record{}
	}
	r := record{field: fieldOf(m[1]), value: trimValue(m[2] + m[3])}
	if r.value == "" || trimValue(m[4]) != "" && (r.field != "disallow" || r.value[0] != '/') {
		return record{}
	}
	return r
}

// fieldOf returns the field that a name, or its last word, means, "" if there is none. It compares
// letters, and tolerates a few wrong ones, except in Allow: a wrong guess would allow.
func fieldOf(name string) string {
	last := name[strings.LastIndexFunc(name, func(r rune) bool { return !isTokenRune(r) })+1:]
	for _, s := range []string{letters(name), letters(last)} {
		if len(s) < len("allow") {
			continue
		}
		if near := suggest.Name(s, fieldNames); near != "" && (near != "allow" || s == near && len(s) == len(letters(name))) {
			return near
		}
	}
	return ""
}

// letters returns the ASCII letters of a name in lower case.
func letters(name string) string {
	return strings.Map(func(r rune) rune {
		if !isTokenRune(r) || r == '-' || r == '_' {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
}

// trimValue removes invisible characters, quotes and brackets around a value, a second separator
// and invalid UTF-8 before it, and zero-width characters in it.
func trimValue(s string) string {
	s = strings.TrimLeftFunc(s, func(r rune) bool { return r == utf8.RuneError || r == ':' || r == '=' || r == ';' || isInvisible(r) })
	s = strings.TrimRightFunc(noWidth.Replace(s), isInvisible)
	const quotes = "\"'`“”‘’<>()[]"
	if strings.IndexAny(s, quotes) == 0 {
		s = strings.Trim(s, quotes)
	}
	return s
}

// noWidth drops zero-width characters, which get into paths by copying. It keeps joiners, which
// some scripts need.
var noWidth = strings.NewReplacer("\u200b", "", "\u2060", "", "\ufeff", "", "\u00ad", "")

// isInvisible reports whether r is a space of any kind, a control character, or a format character
// such as U+200B and U+FEFF.
func isInvisible(r rune) bool { return unicode.In(r, unicode.White_Space, unicode.Cc, unicode.Cf) }

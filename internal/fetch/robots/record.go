package robots

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"seine/internal/base/suggest"
)

// fieldNames are the records that are read.
var fieldNames = []string{"disallow", "allow", "user-agent", "crawl-delay", "request-rate", "sitemap"}

// record is one line: its field, "" if it has none of fieldNames, and whether it has the form of RFC 9309.
type record struct {
	field, value string
	exact        bool
}

// readRecord reads a line without its comment. Misspelt names, forgotten colons, and invisible characters around
// names and values make no difference: what a site plainly meant to forbid is forbidden.
func readRecord(text string) record {
	line := strings.TrimLeftFunc(text, isInvisible)
	if strings.HasPrefix(line, "//") || strings.HasPrefix(line, ";") {
		return record{} // a comment in other languages
	}
	name, value, colon := strings.Cut(line, ":")
	if field := fieldOf(name); colon && field != "" && !strings.Contains(name, "/") {
		r := record{field: field, value: trimValue(value)}
		r.exact = strings.ToLower(strings.TrimRight(name, whitespace)) == field && strings.Trim(value, whitespace) == r.value &&
			strings.TrimLeft(text, whitespace) == line
		return r
	}
	return withoutColon(strings.TrimLeftFunc(line, func(r rune) bool { return !isTokenRune(r) }))
}

// withoutColon reads a line whose name is its first word or two, and whose value is the next, as Google's parser has
// it (GetKeyAndValueFrom of robots.cc). Prose is no record.
func withoutColon(line string) record {
	name, rest := cutName(line)
	field := fieldOf(name)
	if field == "" {
		var second string
		second, rest = cutName(strings.TrimLeft(rest, whitespace))
		if field = fieldOf(name + second); letters(field) != letters(name+second) {
			return record{}
		}
	}
	words := strings.Fields(strings.TrimLeft(trimValue(rest), "=;,： "))
	if len(words) == 0 || len(words) > 1 && (field != "disallow" || words[0][0] != '/') {
		return record{}
	}
	return record{field: field, value: trimValue(words[0])}
}

// cutName cuts a word off, which may have letters that are not of ASCII.
func cutName(s string) (word, rest string) {
	end := strings.IndexFunc(s, func(r rune) bool { return r < utf8.RuneSelf && !isTokenRune(r) || unicode.IsSpace(r) || r == '：' })
	if end < 0 {
		return s, ""
	}
	return s[:end], s[end:]
}

// fieldOf returns the field that a name, or its last word, means. Letters count, and a few wrong ones do no harm,
// except in Allow: a wrong guess would allow.
func fieldOf(name string) string {
	last := name[strings.LastIndexFunc(name, func(r rune) bool { return !isTokenRune(r) })+1:]
	for _, s := range []string{letters(name), letters(last)} {
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

// trimValue takes off what nobody sees, a no-break space of Latin-1 too, and quotes.
func trimValue(s string) string {
	s = strings.TrimFunc(s, isInvisible)
	if i := len(s) - 1; i >= 0 && s[i] == 0xa0 && !utf8.ValidString(s[max(0, i-utf8.UTFMax+1):]) {
		s = strings.TrimRightFunc(s[:i], isInvisible)
	}
	s = strings.TrimLeftFunc(strings.TrimPrefix(s, "\xa0"), isInvisible)
	const quotes = "\"'`“”‘’"
	if strings.IndexAny(s, quotes) == 0 {
		s = strings.Trim(s, quotes)
	}
	return s
}

// isInvisible reports spaces of all kinds, control characters, and format characters such as U+200B and U+FEFF.
func isInvisible(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
}

package speccompletion

import "strings"

func indentOf(text string) int { return skipSpaces(text, 0) }

func skipSpaces(text string, at int) int {
	for at < len(text) && (text[at] == ' ' || text[at] == '\t') {
		at++
	}
	return at
}

// wordLen is how many bytes there are to the next blank.
func wordLen(text string) int {
	if i := strings.IndexAny(text, " \t"); i >= 0 {
		return i
	}
	return len(text)
}

// wordEnd is where a text of a line ends that is in no brackets: before a comment, without blanks.
func wordEnd(text string, at int) int {
	if q := text[at]; q == '"' || q == '\'' {
		if end := closing(text, at+1, q); end >= 0 {
			return end
		}
	}
	return at + len(strings.TrimRight(text[at:commentIn(text, at)], " \t"))
}

// commentIn is where a comment of a line begins, behind a byte; the end of the line if there is none.
func commentIn(text string, at int) int {
	for i := at + 1; i < len(text); i++ {
		if text[i] == '#' && (text[i-1] == ' ' || text[i-1] == '\t') {
			return i
		}
	}
	return len(text)
}

func inComment(text string, at, cursor int) bool { return cursor > commentIn(text, at) }

// closing is behind the quote that ends a text, -1 if the line has none.
func closing(text string, at int, quote byte) int {
	for i := at; i < len(text); i++ {
		switch {
		case text[i] == '\\' && quote == '"':
			i++
		case text[i] != quote:
		case quote == '\'' && i+1 < len(text) && text[i+1] == quote:
			i++
		default:
			return i + 1
		}
	}
	return -1
}

// word is what is written where the cursor is.
type word struct {
	start, end int
	before     string // from the beginning to the cursor, without quotes
	quote      string
	indent     int // column in which it begins
}

// wordAt returns the word that a candidate replaces: of a text from start to end, what is before the cursor, and what goes
// on with it.
func wordAt(line string, start, end, cursor int) word {
	w := word{start: start, end: cursor, indent: start}
	from := start
	if start < end && (line[start] == '"' || line[start] == '\'') {
		w.quote = line[start : start+1]
		from++
	}
	if cursor < from { // before the quote
		cursor, w.end = from, from
	}
	for w.end < end && isNameByte(line[w.end]) {
		w.end++
	}
	if rest := line[w.end:]; w.quote != "" && strings.HasPrefix(rest, w.quote) && (len(rest) == 1 || !isNameByte(rest[1])) { // else another begins
		w.end++
	}
	w.before = strings.TrimSuffix(line[from:max(from, min(cursor, w.end))], w.quote)
	return w
}

func isNameByte(c byte) bool {
	return c == '_' || c == '.' || c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

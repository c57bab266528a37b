package speccompletion

import "strings"

// flow reads a line from a byte on that is in brackets, or where they begin.
func (r *reader) flow(text string, at int) {
	fresh := true // no token of the line has been read
	for began := false; !r.full; began = true {
		if began && !r.inFlow() {
			return // what follows the last bracket is of no interest
		}
		next := skipSpaces(text, at)
		if r.inFlow() && r.here && r.found == nil && r.cursor >= at && r.cursor <= next && (next == len(text) || r.cursor < next || isPunctuation(text[next])) {
			r.gap(fresh)
		}
		if at = next; at == len(text) || text[at] == '#' && (at == 0 || text[at-1] == ' ' || text[at-1] == '\t') {
			return
		}
		switch c := text[at]; c {
		case '{', '[':
			r.nextLine(fresh)
			r.push(&collection{flow: true, list: c == '['})
			at++
		case '}', ']':
			r.pop()
			at++
		case ',':
			r.next()
			at++
		case ':':
			r.top().colon = true
			at++
		default:
			r.nextLine(fresh)
			at = r.token(text, at)
		}
		fresh = false
	}
}

func isPunctuation(c byte) bool { return strings.IndexByte("{}[],:", c) >= 0 }

// next begins another key or member.
func (r *reader) next() {
	t := r.top()
	t.key, t.colon, t.filled = "", false, false
}

// nextLine takes the end of a line for a comma that is missing, before a token that comes first in the next one.
func (r *reader) nextLine(fresh bool) {
	if t := r.top(); fresh && t != nil && t.flow && t.filled {
		r.next()
	}
}

// gap is the cursor between two tokens.
func (r *reader) gap(fresh bool) {
	t := r.top()
	switch {
	case t.filled && !fresh:
		r.inside()
	case t.list || t.colon && !t.filled:
		r.foundValue(r.cursor, r.cursor)
	case t.key == "" || t.filled:
		r.foundKey(r.cursor, r.cursor, false)
	}
}

// token reads a text in brackets, and returns where it ends.
func (r *reader) token(text string, at int) int {
	q := text[at]
	isQuoted := q == '"' || q == '\''
	end := flowEnd(text, at)
	if isQuoted {
		if end = closing(text, at+1, q); end < 0 {
			end, r.quote = len(strings.TrimRight(text, " \t")), q
		}
	}
	t := r.top()
	if t.list || t.colon {
		if r.in(at, end) {
			r.foundValue(at, end)
		}
		t.filled = true
		return end
	}
	name := text[at:end]
	if isQuoted {
		name = strings.Trim(name, string(q))
	}
	colon := skipSpaces(text, end)
	r.flowKey(name, at, end, colon < len(text) && text[colon] == ':')
	t.json = t.json || q == '"'
	return end
}

// flowKey is a key in braces.
func (r *reader) flowKey(name string, at, end int, colon bool) {
	here := r.in(at, end)
	if here {
		r.foundKey(at, end, colon)
	}
	r.addKey(name, here)
	if here && colon {
		r.found.key = r.aboutKey()
	}
}

// flowEnd is where a text without quotes ends in brackets.
func flowEnd(text string, at int) int {
	i := at
	for ; i < len(text); i++ {
		c := text[i]
		switch {
		case strings.IndexByte(",[]{}", c) >= 0,
			c == ':' && (i+1 == len(text) || strings.IndexByte(" \t,[]{}", text[i+1]) >= 0),
			c == '#' && i > at && (text[i-1] == ' ' || text[i-1] == '\t'):
			return at + max(1, len(strings.TrimRight(text[at:i], " \t")))
		}
	}
	return at + len(strings.TrimRight(text[at:], " \t"))
}

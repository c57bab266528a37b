package speccompletion

import (
	"encoding/json"
	"strings"
)

// flow reads a line from a byte on that is in brackets, or where they begin.
func (r *reader) flow(text string, at int) {
	fresh := true // no token of the line has been read
	r.ended(0)    // in this line nothing has
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
			r.withoutComma(fresh)
			r.push(&collection{flow: true, list: c == '['})
			at++
		case '}', ']':
			r.pop()
			at++
			r.ended(at)
		case ',':
			r.next()
			at++
		case ':':
			r.top().colon = true
			at++
		default:
			at = r.separated(text, at, fresh)
		}
		fresh = false
	}
}

func isPunctuation(c byte) bool { return strings.IndexByte("{}[],:", c) >= 0 }

// next begins another key or member.
func (r *reader) next() {
	t := r.top()
	t.key, t.colon, t.filled, t.end = "", false, false, 0
}

// ended notes where in the line a value in brackets has ended, after which there can be but a comma or a bracket.
func (r *reader) ended(end int) {
	if t := r.top(); t != nil && t.flow {
		t.end = end
	}
}

// withoutComma begins another key or member where a comma is missing: behind a value that has ended, or, as in a plain text
// blanks may be part of the value, in the next line. It returns where in the line the comma belongs, 0 if it does not belong there.
func (r *reader) withoutComma(fresh bool) (comma int) {
	t := r.top()
	if t == nil || !t.flow || !t.filled || !fresh && t.end == 0 {
		return 0
	}
	if !fresh {
		comma = t.end
	}
	r.next()
	return comma
}

// separated reads a text in brackets, before which a comma may be missing, and returns where it ends.
func (r *reader) separated(text string, at int, fresh bool) (end int) {
	before, comma := r.found, r.withoutComma(fresh)
	end = r.token(text, at)
	if r.found != before {
		r.found.comma = comma
	}
	return end
}

// gap is the cursor between two tokens.
func (r *reader) gap(fresh bool) {
	comma := r.withoutComma(fresh)
	t := r.top()
	switch {
	case t.filled:
		r.inside()
	case t.list || t.colon:
		r.foundValue(r.cursor, r.cursor)
		r.found.comma = comma
	case t.key == "":
		r.foundKey(r.cursor, r.cursor, false)
		r.found.comma = comma
	}
}

// token reads a text in brackets, and returns where it ends.
func (r *reader) token(text string, at int) int {
	q := text[at]
	isQuoted := q == '"' || q == '\''
	t := r.top()
	end, isWhole := flowEnd(text, at), isQuoted
	if isQuoted {
		if end = closing(text, at+1, q); end < 0 {
			end, r.quote, isWhole = len(strings.TrimRight(text, " \t")), q, false
		}
	} else if literal := literalEnd(text, at); t.json && literal > 0 {
		end, isWhole = literal, true
	}
	if t.list || t.colon {
		r.flowValue(at, end, isWhole)
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

// flowValue is a value in brackets. If it is whole, what comes behind it in the line does not belong to it.
func (r *reader) flowValue(at, end int, isWhole bool) {
	if r.in(at, end) {
		r.foundValue(at, end)
	}
	r.fill()
	if isWhole {
		r.ended(end)
	}
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

// literalEnd is where a number, true, false or null of JSON ends, 0 if there is none.
func literalEnd(text string, at int) int {
	length := strings.IndexAny(text[at:], " \t,[]{}\"'")
	if length < 0 {
		length = len(text) - at
	}
	if length == 0 || !json.Valid([]byte(text[at:at+length])) {
		return 0
	}
	return at + length
}

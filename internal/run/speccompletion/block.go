package speccompletion

import "strings"

// content reads what a line has from its indentation on, outside of brackets and quotes.
func (r *reader) content(text string, at int) {
	if at == len(text) || text[at] == '#' {
		if r.here && r.cursor <= at {
			r.word(r.cursor, r.cursor, r.cursor)
		}
		return
	}
	for isDash(text, at) {
		r.dash(at)
		if r.full {
			return
		}
		from := at + 1
		if at = skipSpaces(text, from); at == len(text) || text[at] == '#' {
			r.missing(from, at)
			return
		}
	}
	if name, end, colon := keyAt(text, at); colon > 0 {
		r.key(text, at, name, end, colon)
		return
	}
	switch text[at] {
	case '{', '[', '|', '>', '&', '!', '*':
		r.closeTo(at, false)
		r.value(text, at)
	default:
		r.word(at, wordEnd(text, at), at)
		r.unfinished(text, at)
	}
}

// dash begins a member of the list whose dashes are in a column.
func (r *reader) dash(at int) {
	r.closeTo(at, true)
	if t := r.top(); t == nil || !t.list {
		r.push(&collection{list: true, indent: at})
	}
	if t := r.top(); t != nil {
		t.filled = false
	}
}

// closeTo ends the collections in which nothing can be at a column any more.
func (r *reader) closeTo(at int, dash bool) {
	for t := r.top(); t != nil; t = r.top() {
		if t.indent < at || t.indent == at && (dash || !t.list) {
			return
		}
		r.pop()
	}
}

// key reads a key with its colon, and its value.
func (r *reader) key(text string, at int, name string, end, colon int) {
	r.closeTo(at, false)
	if t := r.top(); t == nil || t.list || t.indent != at {
		if r.push(&collection{indent: at}); r.full {
			return
		}
	}
	here := r.in(at, end)
	if here {
		r.foundKey(at, end, true)
	}
	r.addKey(name, here)
	if here {
		r.found.key = r.aboutKey()
	}
	from := colon + 1
	if at = skipSpaces(text, from); at == len(text) || text[at] == '#' {
		r.missing(from, at)
		return
	}
	r.value(text, at)
}

// missing is where a value may be written in the line, after a colon or a dash.
func (r *reader) missing(from, to int) {
	if !r.here || r.cursor < from || r.cursor > to {
		return
	}
	r.foundValue(r.cursor, r.cursor)
	r.found.space = r.cursor == from
}

// value reads one that begins in the line.
func (r *reader) value(text string, at int) {
	for text[at] == '&' || text[at] == '!' { // an anchor or a tag
		if at = skipSpaces(text, at+wordLen(text[at:])); at == len(text) || text[at] == '#' {
			return
		}
	}
	switch text[at] {
	case '{', '[':
		r.flow(text, at)
		return
	case '|', '>':
		r.block = true
	default:
		end := wordEnd(text, at)
		if r.in(at, end) {
			r.foundValue(at, end)
		}
		r.fill()
		r.unfinished(text, at)
	}
	if r.here && r.found == nil && !inComment(text, at, r.cursor) {
		r.inside()
	}
}

// unfinished notes a quoted text that goes on in the next line.
func (r *reader) unfinished(text string, at int) {
	if q := text[at]; (q == '"' || q == '\'') && closing(text, at+1, q) < 0 {
		r.quote = q
	}
}

// word reads a text alone in its line, or after dashes, from at to end: a value, or a key without its colon yet.
func (r *reader) word(at, end, column int) {
	r.closeTo(column, false)
	t, here := r.top(), r.in(at, end)
	if t != nil && !t.list && t.indent == column {
		if here {
			r.foundKey(at, end, false)
		}
		return
	}
	if t != nil && !t.list && t.key == "" {
		return
	}
	s := r.slot()
	if here {
		r.foundValue(at, end)
		r.found.alone, r.found.awaits, r.found.depth = true, true, len(r.open)
	}
	switch {
	case end > at && s.object() != nil && (here || !s.isScalar()):
		r.push(&collection{indent: column}) // it is a key, and others may follow
	case !here:
		r.fill()
	}
}

// isDash reports whether a member of a list begins there.
func isDash(text string, at int) bool {
	return at < len(text) && text[at] == '-' && (at+1 == len(text) || text[at+1] == ' ' || text[at+1] == '\t')
}

// beginsBlock reports whether a line looks like one that is in no brackets.
func beginsBlock(text string, at int) bool {
	if isDash(text, at) {
		return true
	}
	_, _, colon := keyAt(text, at)
	return colon > 0
}

// keyAt returns the key that begins there, where it ends, and where its colon is; 0 if there is none.
func keyAt(text string, at int) (name string, end, colon int) {
	if at >= len(text) {
		return "", 0, 0
	}
	if q := text[at]; q == '"' || q == '\'' {
		if end = closing(text, at+1, q); end < 0 {
			return "", 0, 0
		}
		if colon = skipSpaces(text, end); !isColon(text, colon) {
			return "", 0, 0
		}
		return text[at+1 : end-1], end, colon
	}
	if strings.IndexByte("[]{}#&*!|>%@`,", text[at]) >= 0 {
		return "", 0, 0
	}
	for i := at; i < len(text); i++ {
		switch {
		case text[i] == '#' && text[i-min(i, 1)] == ' ':
			return "", 0, 0
		case isColon(text, i):
			name = strings.TrimRight(text[at:i], " \t")
			return name, at + len(name), i
		}
	}
	return "", 0, 0
}

// isColon reports whether there is a colon that ends a key.
func isColon(text string, at int) bool {
	return at < len(text) && text[at] == ':' && (at+1 == len(text) || text[at+1] == ' ' || text[at+1] == '\t')
}

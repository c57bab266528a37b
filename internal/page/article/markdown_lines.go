package article

import (
	"bytes"
	"strings"
)

// gapBlank separates blocks by an empty line. It is the widest gap.
const gapBlank = gapLine + 1

// markdownLines are lines of Markdown, each with the prefixes of the quotes and lists that contain
// it.
type markdownLines struct {
	b       []byte
	indents []indent
	gap     gap  // before the next line
	midline bool // the last line has its prefixes
	marks   int  // end of these prefixes
}

// indent is the prefix of the lines of a quote or an item: first for the first line with text, rest
// for all others.
type indent struct {
	first, rest string
	fresh       bool
}

// push begins a quote or an item. It returns false, and does nothing, at maxNesting.
func (o *markdownLines) push(first, rest string) bool {
	if len(o.indents) >= maxNesting {
		return false
	}
	o.indents = append(o.indents, indent{first: first, rest: rest, fresh: true})
	return true
}

func (o *markdownLines) pop() { o.indents = o.indents[:len(o.indents)-1] }

// text adds text to a line.
func (o *markdownLines) text(s string) {
	if s == "" {
		return
	}
	if !o.midline {
		o.start()
	}
	o.b = append(o.b, s...)
}

// start starts a line after the pending gap.
func (o *markdownLines) start() {
	if len(o.b) > 0 && o.gap == gapBlank {
		for _, in := range o.indents {
			if in.fresh {
				break
			}
			o.b = append(o.b, in.rest...)
		}
		o.b = bytes.TrimRight(o.b, " ")
		o.b = append(o.b, '\n')
	}
	for i := range o.indents {
		in := &o.indents[i]
		if in.fresh {
			o.b = append(o.b, in.first...)
		} else {
			o.b = append(o.b, in.rest...)
		}
		in.fresh = false
	}
	o.gap, o.midline, o.marks = gapNone, true, len(o.b)
}

// newline ends a line within a block. The next line has its prefixes, with or without text.
func (o *markdownLines) newline() {
	o.endLine()
	o.start()
}

func (o *markdownLines) endLine() {
	if !o.midline {
		return
	}
	if len(o.b) == o.marks {
		o.b = bytes.TrimRight(o.b, " ")
	}
	o.b = append(o.b, '\n')
	o.midline = false
}

// endBlock ends a block: a blank line follows.
func (o *markdownLines) endBlock() {
	o.endLine()
	o.gap = max(o.gap, gapBlank)
}

// tighten reduces the pending gap to that of a tight list.
func (o *markdownLines) tighten() { o.gap = min(o.gap, gapLine) }

// full reports whether the Markdown has reached its maximum length.
func (o *markdownLines) full() bool { return len(o.b) >= maxMarkdown }

func (o *markdownLines) String() string {
	if strings.TrimSpace(string(o.b)) == "" {
		return ""
	}
	return strings.TrimRight(string(o.b), "\n ") + "\n"
}

// raw adds text, unchanged, to the line that newline began.
func (o *markdownLines) raw(s string) { o.b = append(o.b, s...) }

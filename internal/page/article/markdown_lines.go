package article

import (
	"bytes"
	"strings"
)

// gapBlank sets blocks apart by an empty line. It is the widest gap.
const gapBlank = gapLine + 1

// markdownLines are lines of Markdown, each with the marks of the quotes and lists that
// it is in.
type markdownLines struct {
	b       []byte
	indents []indent
	gap     gap  // before the next line
	midline bool // the last line has its marks
	marks   int  // where they end
}

// indent is what stands before the lines of a quote or an item: first before the
// first one that has text, rest before all others.
type indent struct {
	first, rest string
	fresh       bool
}

// push enters a quote or an item, and reports whether it did: not beyond
// maxNesting.
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

// start starts a line behind the gap that is due.
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

// newline ends a line within a block. The next has its marks, text or not.
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

// tighten makes the gap before the next line that of a tight list.
func (o *markdownLines) tighten() { o.gap = min(o.gap, gapLine) }

// full says whether there is as much Markdown as there may be.
func (o *markdownLines) full() bool { return len(o.b) >= maxMarkdown }

func (o *markdownLines) String() string {
	if strings.TrimSpace(string(o.b)) == "" {
		return ""
	}
	return strings.TrimRight(string(o.b), "\n ") + "\n"
}

// raw adds text to the line that newline began, as it is.
func (o *markdownLines) raw(s string) { o.b = append(o.b, s...) }

package css

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"

	"seine/internal/base/regexbound"
)

// contains is :contains() and :containsOwn(), of a text in small letters.
func contains(text string, own bool) test {
	return func(m *Matcher, n *html.Node) bool {
		if own {
			var b strings.Builder
			m.lower(&b, m.ownText(n))
			return strings.Contains(b.String(), text)
		}
		t := m.textOf(n, true)
		if m.err != nil {
			return false
		}
		start, end := m.span(t, n)
		at := m.occurrences(t.all, text).from(t.all, start)
		return at >= 0 && at+len(text) <= end
	}
}

// matches is :matches() and :matchesOwn().
func matches(re *regexbound.Regexp, own bool) test {
	return func(m *Matcher, n *html.Node) bool {
		if own {
			return m.regex(re, m.ownText(n))
		}
		t := m.textOf(n, false)
		if m.err != nil {
			return false
		}
		start, end := m.span(t, n)
		return m.regex(re, t.all[start:end])
	}
}

// lower appends a text in small letters, piece by piece, unless the work ends.
func (m *Matcher) lower(to *strings.Builder, text string) {
	const most = 64 << 10
	for len(text) > 0 {
		n := min(most, len(text))
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n++
		}
		if !m.spend(n / Unit) {
			return
		}
		to.WriteString(strings.ToLower(text[:n]))
		text = text[n:]
	}
}

// ownText returns the text of the children of a node that are texts.
func (m *Matcher) ownText(n *html.Node) string {
	var b strings.Builder
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if !m.spend(1 + len(c.Data)/Unit) {
			break
		}
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
	}
	return b.String()
}

// occurrences says where a text comes next in another: for each stretch of it, the
// first place in it or behind it.
type occurrences struct {
	text string
	next []int32
}

// stretch is how many bytes there are to a place that is kept.
const stretch = 64

// occurrences looks for a text in that of the page, once.
func (m *Matcher) occurrences(all, text string) *occurrences {
	if o, ok := m.found[text]; ok {
		return o
	}
	o := &occurrences{text: text, next: make([]int32, len(all)/stretch+1)}
	m.spend(len(all) / Unit)
	at := 0
	for i := range o.next {
		if at >= 0 && at < i*stretch || i == 0 {
			at = index(all, text, i*stretch)
		}
		o.next[i] = int32(at)
	}
	if m.found == nil {
		m.found = make(map[string]*occurrences)
	}
	m.found[text] = o
	return o
}

func index(all, text string, from int) int {
	if from > len(all) {
		return -1
	}
	i := strings.Index(all[from:], text)
	if i < 0 {
		return -1
	}
	return from + i
}

// from returns the first place at or behind a byte, -1 if there is none.
func (o *occurrences) from(all string, at int) int {
	i := at / stretch
	near := all[at:min((i+1)*stretch+len(o.text), len(all))]
	if in := strings.Index(near, o.text); in >= 0 {
		return at + in
	}
	if i+1 < len(o.next) {
		return int(o.next[i+1])
	}
	return -1
}

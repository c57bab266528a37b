package article

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"seine/internal/page/dom"
)

// footnotes are the footnotes of a page: references in the text, and their target elements.
type footnotes struct {
	labels map[string]string // by the id of the target element
}

var (
	classesReference = classes("footnote-ref footnote-reference footnoteref")
	classesBack      = classes("footnote-back footnote-backref fn-backref mw-cite-backlink label")
)

// longestLabel is the longest label that is kept, in bytes. Notes with longer labels are numbered.
const longestLabel = 12

// findNotes finds the references that lead to an item, an aside or a group in the same node.
func findNotes(root *html.Node) footnotes {
	targets := map[string]bool{}
	var references []*html.Node
	for w := dom.Walk(root); w.Next(); {
		if w.Leaving || w.Node.Type != html.ElementNode {
			continue
		}
		switch w.Node.DataAtom {
		case atom.Li, atom.Aside, atom.Div, atom.P:
			if id := dom.Attribute(w.Node, "id"); id != "" {
				targets[id] = true
			}
		case atom.A:
			if isReference(w.Node) {
				references = append(references, w.Node)
			}
		}
	}
	return footnotes{labels: labels(references, targets)}
}

// isReference reports whether a link looks like a reference to a footnote: it is raised, or has the
// markup of one.
func isReference(a *html.Node) bool {
	if !strings.HasPrefix(dom.Attribute(a, "href"), "#") {
		return false
	}
	return a.Parent != nil && a.Parent.DataAtom == atom.Sup || dom.Attribute(a, "role") == "doc-noteref" ||
		classesReference.has(a)
}

func labels(references []*html.Node, targets map[string]bool) map[string]string {
	byID, taken := map[string]string{}, map[string]bool{}
	for _, a := range references {
		id := dom.Attribute(a, "href")[1:]
		if !targets[id] || byID[id] != "" {
			continue
		}
		label := strings.Trim(Text(a), "[]() ")
		for n := len(byID) + 1; !isLabel(label) || taken[label]; n++ {
			label = "n" + strconv.Itoa(n)
		}
		byID[id], taken[label] = label, true
	}
	return byID
}

func isLabel(s string) bool {
	if s == "" || len(s) > longestLabel {
		return false
	}
	for i := range len(s) {
		if c := s[i]; !isLetter(c) && !isDigit(c) {
			return false
		}
	}
	return true
}

// label returns the label of a note, or "" for any other element.
func (s footnotes) label(n *html.Node) string {
	if len(s.labels) == 0 || n.Type != html.ElementNode {
		return ""
	}
	return s.labels[dom.Attribute(n, "id")]
}

// reference returns the label that a reference leads to, or "" for any other element.
func (s footnotes) reference(n *html.Node) string {
	if len(s.labels) == 0 || n.DataAtom != atom.A || !isReference(n) {
		return ""
	}
	return s.labels[dom.Attribute(n, "href")[1:]]
}

// isBack reports whether an element of a note leads back to the text, or repeats the label.
func (s footnotes) isBack(n *html.Node) bool {
	if len(s.labels) == 0 {
		return false
	}
	return dom.Attribute(n, "role") == "doc-backlink" || classesBack.has(n) &&
		n.DataAtom != atom.Td
}

package render

import (
	"bytes"
	"fmt"
	"net/url"
	"strings"

	"github.com/chromedp/cdproto/domsnapshot"
	"golang.org/x/net/html"
)

// A snapshot of the browser becomes one HTML document as a reader sees it. The browser gives the tree that it shows: shadow
// roots, open or closed, are in the place of their hosts, and slots have what is shown in them. The body of a frame follows
// the element that shows it. What is no element or text is left out, and so are templates and what is for browsers without
// scripts.

// Types of nodes (DOM Living Standard, section 4.4).
const (
	elementNode  = 1
	textNode     = 3
	documentNode = 9
)

// snapshotDocument is one document of a snapshot.
type snapshotDocument struct {
	nodes    *domsnapshot.NodeTreeSnapshot
	text     []string     // of all strings of the snapshot
	children [][]int      // by node
	own      map[int]bool // nodes that the browser makes of its own, such as the parts of an input field
	frames   map[int]int  // the document that a node shows
	base     *url.URL     // nil if URLs are left as they are
}

// snapshotHTML writes the documents of a snapshot as one, of at most so many bytes. Asked is the URL that the first one
// was asked for by.
func snapshotHTML(documents []*domsnapshot.DocumentSnapshot, text []string, asked string, most int) ([]byte, error) {
	if len(documents) == 0 {
		return nil, fmt.Errorf("the browser has no document")
	}
	w := &snapshotWriter{most: most}
	for i, d := range documents {
		w.documents = append(w.documents, newSnapshotDocument(d, text, i > 0))
		if i == 0 {
			w.moved, w.base = !sameDocument(textOf(text, d.DocumentURL), asked), textOf(text, d.BaseURL)
		}
	}
	w.out.WriteString("<!DOCTYPE html>")
	w.node(w.documents[0], 0)
	if w.out.Len() > most {
		return nil, errTooLarge
	}
	return w.out.Bytes(), nil
}

func newSnapshotDocument(d *domsnapshot.DocumentSnapshot, text []string, frame bool) *snapshotDocument {
	s := &snapshotDocument{nodes: d.Nodes, text: text, own: make(map[int]bool), frames: make(map[int]int)}
	if frame {
		s.base, _ = url.Parse(textOf(text, d.BaseURL))
	}
	s.children = make([][]int, len(d.Nodes.ParentIndex))
	if rare := d.Nodes.ShadowRootType; rare != nil {
		for i, n := range rare.Index {
			s.own[int(n)] = textOf(text, rare.Value[i]) == "user-agent"
		}
	}
	for n, parent := range d.Nodes.ParentIndex {
		if parent >= 0 {
			s.children[parent] = append(s.children[parent], n)
		}
	}
	if rare := d.Nodes.ContentDocumentIndex; rare != nil {
		for i, n := range rare.Index {
			s.frames[int(n)] = int(rare.Value[i])
		}
	}
	return s
}

// sameDocument reports whether two URLs differ in their fragments alone.
func sameDocument(a, b string) bool {
	a, _, _ = strings.Cut(a, "#")
	b, _, _ = strings.Cut(b, "#")
	return a == b
}

func textOf[I ~int64](text []string, i I) string {
	if i < 0 || int(i) >= len(text) {
		return ""
	}
	return text[i]
}

func (d *snapshotDocument) kind(n int) int64   { return d.nodes.NodeType[n] }
func (d *snapshotDocument) value(n int) string { return textOf(d.text, d.nodes.NodeValue[n]) }
func (d *snapshotDocument) element(n int) string {
	return strings.ToLower(textOf(d.text, d.nodes.NodeName[n]))
}

// snapshotWriter writes documents into each other.
type snapshotWriter struct {
	documents []*snapshotDocument
	moved     bool   // scripts have given the first document another URL
	base      string // what its URLs are relative to
	most      int
	out       bytes.Buffer
	depth     int
}

// maxSnapshotDepth bounds the depth of elements, since HTML parsers keep to 512 at most. What is in deeper ones is written
// without their tags.
const maxSnapshotDepth = 400

// leftOut are elements of which nothing is written.
var leftOut = map[string]bool{"template": true, "noscript": true, "noembed": true, "noframes": true}

// rawText are elements whose text is written as it is.
var rawText = map[string]bool{"script": true, "style": true, "xmp": true, "plaintext": true}

// void are elements that have no end tag (HTML Living Standard, section 13.1.2).
var void = map[string]bool{
	"area": true, "base": true, "br": true, "col": true, "embed": true, "hr": true, "img": true, "input": true,
	"link": true, "meta": true, "source": true, "track": true, "wbr": true, "frame": true, "param": true, "keygen": true,
}

// node writes a node and what is in it.
func (w *snapshotWriter) node(d *snapshotDocument, n int) {
	if w.out.Len() > w.most {
		return
	}
	w.depth++
	defer func() { w.depth-- }()
	switch d.kind(n) {
	case textNode:
		if !d.own[n] {
			w.out.WriteString(html.EscapeString(d.value(n)))
		}
	case documentNode:
		w.nodes(d, d.children[n])
	case elementNode:
		w.elementNode(d, n)
	}
}

func (w *snapshotWriter) nodes(d *snapshotDocument, all []int) {
	for _, n := range all {
		w.node(d, n)
	}
}

func (w *snapshotWriter) elementNode(d *snapshotDocument, n int) {
	name := d.element(n)
	switch {
	case leftOut[name] || strings.HasPrefix(name, "::"):
		return
	case name == "slot" || d.own[n] || w.depth > maxSnapshotDepth:
		w.nodes(d, d.children[n])
		return
	}
	w.startTag(d, n, name)
	if void[name] {
		w.frame(d, n)
		return
	}
	w.content(d, n, name)
	w.out.WriteString("</" + name + ">")
	w.frame(d, n)
}

func (w *snapshotWriter) startTag(d *snapshotDocument, n int, name string) {
	w.out.WriteString("<" + name)
	all := d.nodes.Attributes[n]
	for i := 0; i+1 < len(all); i += 2 {
		key, value := textOf(d.text, all[i]), textOf(d.text, all[i+1])
		if strings.ContainsAny(key, " \t\n\f\r\"'>/=<") { // a script can name an attribute so, and a parser cannot
			continue
		}
		w.out.WriteString(" " + key + `="` + html.EscapeString(d.absolute(key, value)) + `"`)
	}
	w.out.WriteString(">")
	if name == "head" && d == w.documents[0] && w.moved {
		w.out.WriteString(`<base href="` + html.EscapeString(w.base) + `">`) // the first one counts
	}
}

// content writes what is between the tags of an element.
func (w *snapshotWriter) content(d *snapshotDocument, n int, name string) {
	switch {
	case name == "iframe" || name == "object" && d.frames[n] > 0:
	case rawText[name]:
		w.raw(d, n, name)
	default:
		if all := d.children[n]; len(all) > 0 && (name == "pre" || name == "textarea" || name == "listing") && strings.HasPrefix(d.value(all[0]), "\n") {
			w.out.WriteString("\n") // a parser drops the first one
		}
		w.nodes(d, d.children[n])
	}
}

// raw writes the text of a script or a style sheet, unless that would end it.
func (w *snapshotWriter) raw(d *snapshotDocument, n int, name string) {
	for _, c := range d.children[n] {
		if text := d.value(c); d.kind(c) == textNode && !strings.Contains(strings.ToLower(text), "</"+name) {
			w.out.WriteString(text)
		}
	}
}

// frame writes the body of the document that an element shows.
func (w *snapshotWriter) frame(d *snapshotDocument, n int) {
	i, ok := d.frames[n]
	if !ok || i <= 0 || i >= len(w.documents) {
		return
	}
	inner := w.documents[i]
	w.documents[i] = &snapshotDocument{nodes: &domsnapshot.NodeTreeSnapshot{}} // written once
	if len(inner.children) == 0 {
		return
	}
	w.out.WriteString("<div>")
	w.bodies(inner, 0)
	w.out.WriteString("</div>")
}

// bodies writes what is in the body of a document.
func (w *snapshotWriter) bodies(d *snapshotDocument, n int) {
	for _, c := range d.children[n] {
		switch {
		case d.kind(c) == elementNode && d.element(c) == "body":
			w.content(d, c, "body")
		case d.kind(c) == elementNode && d.element(c) == "frameset":
			w.nodes(d, d.children[c])
		case d.kind(c) == elementNode && d.element(c) == "head":
		default:
			w.bodies(d, c)
		}
	}
}

// urlAttributes are attributes that hold a URL.
var urlAttributes = map[string]bool{"href": true, "src": true, "action": true, "data": true, "poster": true, "cite": true, "longdesc": true, "formaction": true}

// absolute returns the value of an attribute as it reads in the document of the page: in a frame, URLs are relative to
// that of the frame.
func (d *snapshotDocument) absolute(name, value string) string {
	if d.base == nil || !urlAttributes[name] {
		return value
	}
	if u, err := d.base.Parse(strings.TrimSpace(value)); err == nil {
		return u.String()
	}
	return value
}

package render

import (
	"bytes"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/chromedp/cdproto/domsnapshot"
	"golang.org/x/net/html"
)

// A snapshot of the browser is converted to one HTML document as a reader sees it. The browser's
// tree contains the visible content: shadow roots, open or closed, replace the content of their
// hosts, and slots have the content shown in them. The body of a frame follows the element that
// shows it. An element of which nothing is visible, for any reason, is marked as hidden. Nodes
// other than elements and text are omitted, as are templates and elements for browsers without
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
	text     []string     // all strings of the snapshot
	children [][]int      // by node
	own      map[int]bool // nodes that the browser itself creates, such as the parts of an input field
	frames   map[int]int  // the document that a node shows
	seen     seen
	ad       bool     // an advertising frame
	base     *url.URL // nil if URLs stay unchanged
}

// snapshotHTML writes the documents of a snapshot as one, of at most most bytes. asked is the URL
// requested for the first one; links are appended to its body.
func snapshotHTML(documents []*domsnapshot.DocumentSnapshot, text []string, asked string, most int, links []string) ([]byte, error) {
	if len(documents) == 0 {
		return nil, fmt.Errorf("the browser has no document")
	}
	w := &snapshotTree{most: most, links: links}
	for i, d := range documents {
		s := newSnapshotDocument(d, text, i > 0)
		s.ad = i > 0 && isAd(textOf(text, d.DocumentURL), asked)
		w.documents = append(w.documents, s)
		if i == 0 {
			w.moved, w.base = !sameDocument(textOf(text, d.DocumentURL), asked), textOf(text, d.BaseURL)
		}
	}
	root := &html.Node{Type: html.DocumentNode}
	root.AppendChild(&html.Node{Type: html.DoctypeNode, Data: "html"})
	w.node(root, w.documents[0], 0, 1)
	var out bytes.Buffer
	if w.size <= most {
		if err := html.Render(&out, root); err != nil {
			return nil, fmt.Errorf("write the document: %w", err)
		}
	}
	if max(w.size, out.Len()) > most {
		return nil, errTooLarge
	}
	return out.Bytes(), nil
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
	s.seen = newSeen(s, d.Layout)
	return s
}

// sameDocument reports whether two URLs differ at most in their fragments.
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

// snapshotTree merges documents into one tree.
type snapshotTree struct {
	documents []*snapshotDocument
	moved     bool   // scripts have changed the URL of the first document
	base      string // its base URL
	links     []string
	most      int
	size      int // bytes of names and texts so far
}

// maxSnapshotDepth bounds the depth of elements, since HTML parsers allow at most 512. The content
// of deeper elements is written without their tags.
const maxSnapshotDepth = 400

// leftOut are elements that are omitted.
var leftOut = map[string]bool{"template": true, "noscript": true, "noembed": true, "noframes": true}

// void are elements without an end tag (HTML Living Standard, section 13.1.2).
var void = map[string]bool{
	"area": true, "base": true, "br": true, "col": true, "embed": true, "hr": true, "img": true, "input": true,
	"link": true, "meta": true, "source": true, "track": true, "wbr": true, "param": true, "keygen": true,
}

// node appends a node and its content.
func (w *snapshotTree) node(to *html.Node, d *snapshotDocument, n, depth int) {
	if w.size > w.most {
		return
	}
	switch d.kind(n) {
	case textNode:
		if !d.own[n] {
			w.text(to, d.value(n))
		}
	case documentNode:
		w.nodes(to, d, n, depth)
	case elementNode:
		w.element(to, d, n, depth)
	}
}

func (w *snapshotTree) nodes(to *html.Node, d *snapshotDocument, n, depth int) {
	for _, c := range d.children[n] {
		w.node(to, d, c, depth+1)
	}
}

// text appends a text, unless it would end the script or style sheet that contains it.
func (w *snapshotTree) text(to *html.Node, text string) {
	if (to.Data == "script" || to.Data == "style" || to.Data == "xmp") && strings.Contains(strings.ToLower(text), "</"+to.Data) {
		return
	}
	w.size += len(text)
	to.AppendChild(&html.Node{Type: html.TextNode, Data: text})
}

func (w *snapshotTree) element(to *html.Node, d *snapshotDocument, n, depth int) {
	name := d.element(n)
	switch {
	case leftOut[name] || strings.HasPrefix(name, "::"):
		return
	case name == "slot" || d.own[n] || depth > maxSnapshotDepth:
		w.nodes(to, d, n, depth)
		return
	}
	e := &html.Node{Type: html.ElementNode, Data: name, Attr: d.attributes(n)}
	if d.seen.hides(n, d.nodes.ParentIndex) && !wordless[name] && !slices.ContainsFunc(e.Attr, func(a html.Attribute) bool { return a.Key == "hidden" }) {
		e.Attr = append(e.Attr, html.Attribute{Key: "hidden"})
	}
	w.size += len("<></>") + 2*len(name)
	for _, a := range e.Attr {
		w.size += len(` =""`) + len(a.Key) + len(a.Val)
	}
	to.AppendChild(e)
	if name == "head" && d == w.documents[0] && w.moved { // the first base element counts
		e.AppendChild(&html.Node{Type: html.ElementNode, Data: "base", Attr: []html.Attribute{{Key: "href", Val: w.base}}})
	}
	if !void[name] && name != "iframe" && (name != "object" || d.frames[n] == 0) {
		w.nodes(e, d, n, depth)
	}
	if name == "body" && d == w.documents[0] {
		for _, url := range w.links {
			e.AppendChild(&html.Node{Type: html.ElementNode, Data: "a", Attr: []html.Attribute{{Key: "href", Val: url}}})
		}
	}
	w.frame(to, d, n, depth)
}

func (d *snapshotDocument) attributes(n int) (out []html.Attribute) {
	all := d.nodes.Attributes[n]
	for i := 0; i+1 < len(all); i += 2 {
		key, value := textOf(d.text, all[i]), textOf(d.text, all[i+1])
		if !strings.ContainsAny(key, " \t\n\f\r\"'>/=<") { // scripts can create such a name, and parsers cannot
			out = append(out, html.Attribute{Key: key, Val: d.absolute(key, value)})
		}
	}
	return out
}

// frame appends the body of the document that an element shows.
func (w *snapshotTree) frame(to *html.Node, d *snapshotDocument, n, depth int) {
	i, ok := d.frames[n]
	if !ok || i <= 0 || i >= len(w.documents) {
		return
	}
	inner := w.documents[i]
	w.documents[i] = &snapshotDocument{nodes: &domsnapshot.NodeTreeSnapshot{}} // write it only once
	if len(inner.children) == 0 || inner.ad {
		return
	}
	body := &html.Node{Type: html.ElementNode, Data: "div"}
	if d.seen.shown[0] && !d.seen.shown[n] {
		body.Attr = []html.Attribute{{Key: "hidden"}}
	}
	to.AppendChild(body)
	w.bodies(body, inner, 0, depth+1)
}

// bodies appends the content of the body of a document.
func (w *snapshotTree) bodies(to *html.Node, d *snapshotDocument, n, depth int) {
	for _, c := range d.children[n] {
		switch name := d.element(c); {
		case d.kind(c) == elementNode && (name == "body" || name == "frameset"):
			w.nodes(to, d, c, depth)
		case d.kind(c) == elementNode && name == "head":
		default:
			w.bodies(to, d, c, depth)
		}
	}
}

// urlAttributes are attributes that hold a URL.
var urlAttributes = map[string]bool{"href": true, "src": true, "action": true, "data": true, "poster": true, "cite": true, "longdesc": true, "formaction": true}

// absolute returns the value of an attribute for the document of the page: URLs in a frame are
// relative to the frame's base.
func (d *snapshotDocument) absolute(name, value string) string {
	if d.base == nil || !urlAttributes[name] {
		return value
	}
	if u, err := d.base.Parse(strings.TrimSpace(value)); err == nil {
		return u.String()
	}
	return value
}

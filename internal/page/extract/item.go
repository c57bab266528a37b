package extract

import (
	"encoding/json"
	"fmt"
	"iter"
	"math/big"
	"slices"
	"strings"

	"github.com/antchfx/xmlquery"
	"golang.org/x/net/html"

	"seine/internal/page/article"
	"seine/internal/page/document"
	"seine/internal/page/dom"
)

// item is the input or result of a selector: the document (the zero item), an HTML or XML node, a
// JSON value, or a text.
type item struct {
	node  *html.Node
	xml   *xmlquery.Node
	value any
	text  string
	kind  itemKind
	ahead map[*query]*batch // results of programs evaluated ahead
}

type itemKind uint8

const (
	itemPage itemKind = iota
	itemNode
	itemXML
	itemValue
	itemText
)

func nodeItem(n *html.Node) item { return item{kind: itemNode, node: n} }
func valueItem(v any) item       { return item{kind: itemValue, value: v} }
func textItem(s string) item     { return item{kind: itemText, text: s} }

// Values of Get.
const (
	getText     = "text"
	getRaw      = "raw"
	getHTML     = "html"
	getOuter    = "outer_html"
	getMarkdown = "markdown"
	getNumber   = "number" // the text, for as: number
)

// get returns the part of an item that get names.
func (r *run) get(in item, get string) (string, error) {
	s, err := r.getText(in, get)
	if err != nil {
		return "", err
	}
	return s, r.spend(len(s) + 1)
}

func (r *run) getText(in item, get string) (string, error) {
	switch in.kind {
	case itemNode:
		return r.getNode(in.node, get)
	case itemXML:
		return getXML(in.xml, get), nil
	case itemValue:
		return textOfValue(in.value), nil
	case itemText:
		return in.text, nil
	default:
		return r.getPage(get)
	}
}

func (r *run) getPage(get string) (string, error) {
	switch get {
	case getText, getNumber:
		return r.doc.Text()
	case getMarkdown:
		root, err := r.doc.Root()
		if err != nil {
			return "", err
		}
		return article.Markdown(root, r.doc.BaseURL()), nil
	case getRaw, getHTML, getOuter:
		if r.body == "" {
			r.body = string(r.doc.Body())
		}
		return r.body, nil
	}
	return "", nil // a document has no attributes
}

func (r *run) getNode(n *html.Node, get string) (string, error) {
	if name, ok := strings.CutPrefix(get, "@"); ok {
		return document.Attribute(n, name), nil
	}
	switch get {
	case getRaw:
		return dom.RawText(n), nil
	case getHTML:
		return r.render(func(yield func(*html.Node) bool) {
			for c := n.FirstChild; c != nil && yield(c); c = c.NextSibling {
			}
		})
	case getOuter:
		return r.render(slices.Values([]*html.Node{n}))
	case getMarkdown:
		return article.Markdown(n, r.doc.BaseURL()), nil
	case getNumber:
		return document.NumberText(n), nil
	}
	return document.TextOf(n), nil
}

// render writes nodes as HTML. It stops when the limit of work is exceeded.
func (r *run) render(nodes iter.Seq[*html.Node]) (string, error) {
	var b strings.Builder
	for n := range nodes {
		if err := html.Render(spending{&b, r}, n); err != nil {
			return "", err
		}
	}
	return b.String(), nil
}

// bytesAWork is the number of written bytes that count as a unit of work.
const bytesAWork = 16

// spending is a writer that counts written bytes as work.
type spending struct {
	to  *strings.Builder
	run *run
}

func (w spending) Write(p []byte) (int, error) {
	if err := w.run.spend(len(p) / bytesAWork); err != nil {
		return 0, err
	}
	return w.to.Write(p)
}

func getXML(n *xmlquery.Node, get string) string {
	if name, ok := strings.CutPrefix(get, "@"); ok {
		return n.SelectAttr(name)
	}
	switch get {
	case getRaw:
		return n.InnerText()
	case getHTML:
		return n.OutputXML(false)
	case getOuter:
		return n.OutputXML(true)
	}
	return dom.Fold(n.InnerText())
}

// textOfValue returns a JSON value as text: a string unchanged, null as "", and all other values as
// JSON.
func textOfValue(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case json.Number:
		return v.String()
	case int:
		return fmt.Sprint(v)
	case *big.Int:
		return v.String()
	}
	return string(appendValue(nil, v))
}

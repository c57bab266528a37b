package extract

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/antchfx/htmlquery"
	"github.com/antchfx/xmlquery"
	"github.com/antchfx/xpath"
	"golang.org/x/net/html"

	"seine/internal/page/dom"
)

// xpathExpr is a compiled XPath expression. Expressions of the library keep state during
// evaluation, so each goroutine uses its own.
type xpathExpr struct {
	text string
	pool sync.Pool
	most textLimit
}

func compileXPath(text string) (x *xpathExpr, err error) {
	x = &xpathExpr{text: text, most: limitOf(text)}
	expr, err := newXPath(text)
	if err != nil {
		return nil, fmt.Errorf("xpath %q: %w", text, err)
	}
	x.pool.Put(expr)
	return x, nil
}

// newXPath compiles an expression; the library panics on some.
func newXPath(text string) (expr *xpath.Expr, err error) {
	defer func() {
		if p := recover(); p != nil {
			expr, err = nil, fmt.Errorf("%v", p)
		}
	}()
	return xpath.Compile(text)
}

// Errors that a walker panics with, since interfaces of the library do not return errors.
var (
	errSteps = fmt.Errorf("%w: an xpath took more than %d steps", errBound, maxSteps)
)

// selectXPath yields the results of the expression from in: nodes, texts for attributes and text
// nodes, and one text for a string, a number or a boolean that is true.
func (r *run) selectXPath(in item, x *xpathExpr, yield func(item) bool) (err error) {
	expr, ok := x.pool.Get().(*xpath.Expr)
	if !ok {
		if expr, err = newXPath(x.text); err != nil {
			return fmt.Errorf("xpath %q: %w", x.text, err)
		}
	}
	start := &walker{budget: &budget{run: r, left: maxSteps, most: x.most}}
	switch in.kind {
	case itemNode:
		start.NodeNavigator, start.budget.start = htmlquery.CreateXPathNavigator(in.node), in.node
	case itemXML:
		start.NodeNavigator = xmlquery.CreateXPathNavigator(in.xml)
	default:
		return nil
	}
	found, err := evaluate(expr, start)
	if err != nil {
		return fmt.Errorf("xpath %q: %w", x.text, err) // expr may be in any state, so it is dropped
	}
	x.pool.Put(expr)
	for _, i := range found {
		if !yield(i) {
			return nil
		}
	}
	return nil
}

// evaluate returns what an expression finds. The library panics if arguments of functions have the
// wrong type, which can depend on the page.
func evaluate(expr *xpath.Expr, start *walker) (found []item, err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case error:
			err = p
		default:
			err = fmt.Errorf("%v", p)
		}
	}()
	switch v := expr.Evaluate(start).(type) {
	case *xpath.NodeIterator:
		for len(found) < MaxValues && v.MoveNext() {
			if w, ok := v.Current().(*walker); ok {
				found = append(found, w.item())
			}
		}
	case string:
		found = append(found, textItem(v))
	case float64:
		found = append(found, valueItem(json.Number(strconv.FormatFloat(v, 'f', -1, 64))))
	case bool:
		if v {
			found = append(found, textItem("true"))
		}
	}
	return found, nil
}

// walker is a navigator that counts its moves.
type walker struct {
	xpath.NodeNavigator
	budget *budget
}

// budget limits the remaining work of an expression.
type budget struct {
	run   *run
	left  int
	asked int // value of left at the last check of the context
	most  textLimit
	texts int        // bytes of all texts so far
	start *html.Node // start node in HTML
}

// item returns the item at the walker's position.
func (w *walker) item() item {
	switch nav := w.NodeNavigator.(type) {
	case *htmlquery.NodeNavigator:
		if nav.NodeType() == xpath.ElementNode || nav.NodeType() == xpath.RootNode {
			return nodeItem(nav.Current())
		}
	case *xmlquery.NodeNavigator:
		if nav.NodeType() == xpath.ElementNode || nav.NodeType() == xpath.RootNode {
			return item{kind: itemXML, xml: nav.Current()}
		}
	}
	return textItem(w.NodeNavigator.Value())
}

// askEvery is the number of steps between two checks of the context.
const askEvery = 1 << 12

func (b *budget) step(n int) {
	if b.left -= n; b.left < 0 {
		panic(errSteps)
	}
	if b.asked-b.left >= askEvery || b.asked == 0 {
		b.asked = b.left
		if err := b.run.spend(askEvery); err != nil {
			panic(err)
		}
	}
}

// Costs in steps.
const (
	stepBytes = 16 // bytes of text per step
	stepCopy  = 8  // a copy, which lists keep
)

// Value charges evaluate for the length of the text. It builds the text of an element on each call,
// without the contents of templates.
func (w *walker) Value() string {
	t := textMaker{budget: w.budget}
	switch nav := w.NodeNavigator.(type) {
	case *htmlquery.NodeNavigator:
		if nav.NodeType() == xpath.ElementNode {
			t.html(nav.Current(), true)
			return t.b.String()
		}
	case *xmlquery.NodeNavigator:
		if nav.NodeType() == xpath.ElementNode && nav.Current().Type == xmlquery.ElementNode {
			t.xml(nav.Current())
			return t.b.String()
		}
	}
	v := w.NodeNavigator.Value()
	t.count(len(v))
	return v
}

// textMaker collects the text of a node and counts its bytes.
type textMaker struct {
	budget *budget
	b      strings.Builder
}

func (t *textMaker) count(n int) {
	t.budget.step(1 + n/stepBytes)
	t.budget.texts += n
	if most := &t.budget.most; t.b.Len()+n > most.each || t.budget.texts > most.all {
		panic(most.exceeded())
	}
}

func (t *textMaker) html(n *html.Node, top bool) {
	switch {
	case n.Type == html.TextNode:
		t.count(len(n.Data))
		t.b.WriteString(n.Data)
		return
	case n.Type == html.CommentNode || !top && dom.IsTemplate(n):
		return
	}
	t.count(0)
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		t.html(c, false)
	}
}

func (t *textMaker) xml(n *xmlquery.Node) {
	switch n.Type {
	case xmlquery.TextNode, xmlquery.CharDataNode:
		t.count(len(n.Data))
		t.b.WriteString(n.Data)
		return
	case xmlquery.CommentNode:
		return
	default:
	}
	t.count(0)
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		t.xml(c)
	}
}

func (w *walker) Copy() xpath.NodeNavigator {
	w.budget.step(stepCopy)
	return &walker{w.NodeNavigator.Copy(), w.budget}
}

func (w *walker) MoveTo(other xpath.NodeNavigator) bool {
	o, ok := other.(*walker)
	return ok && w.NodeNavigator.MoveTo(o.NodeNavigator)
}

// MoveToChild does not enter a template, whose content is not part of the page, unless the template
// is the item itself.
func (w *walker) MoveToChild() bool {
	w.budget.step(1)
	if nav, ok := w.NodeNavigator.(*htmlquery.NodeNavigator); ok && dom.IsTemplate(nav.Current()) && nav.Current() != w.budget.start {
		return false
	}
	return w.NodeNavigator.MoveToChild()
}

// MoveToFirst passes all preceding siblings one by one.
func (w *walker) MoveToFirst() bool {
	moved := false
	for w.MoveToPrevious() {
		moved = true
	}
	return moved
}

func (w *walker) MoveToParent() bool { w.budget.step(1); return w.NodeNavigator.MoveToParent() }
func (w *walker) MoveToNext() bool {
	w.budget.step(1)
	if nav, ok := w.NodeNavigator.(*xmlquery.NodeNavigator); ok {
		w.passSpace(nav.Current().NextSibling)
	}
	return w.NodeNavigator.MoveToNext()
}

func (w *walker) MoveToPrevious() bool {
	w.budget.step(1)
	if nav, ok := w.NodeNavigator.(*xmlquery.NodeNavigator); ok {
		w.passSpace(nav.Current().PrevSibling)
	}
	return w.NodeNavigator.MoveToPrevious()
}

// passSpace charges for text that the library checks for white space, which it skips.
func (w *walker) passSpace(n *xmlquery.Node) {
	if n != nil && n.Type == xmlquery.TextNode {
		w.budget.step(1 + len(n.Data)/stepBytes)
	}
}

func (w *walker) MoveToNextAttribute() bool {
	w.budget.step(1)
	return w.NodeNavigator.MoveToNextAttribute()
}

package extract

import (
	"fmt"
	"strconv"
	"sync"

	"github.com/antchfx/htmlquery"
	"github.com/antchfx/xmlquery"
	"github.com/antchfx/xpath"
)

// xpathExpr is a compiled XPath expression. The library's ones keep state while
// they are evaluated, so there is one for each goroutine.
type xpathExpr struct {
	text string
	pool sync.Pool
}

func compileXPath(text string) (x *xpathExpr, err error) {
	expr, err := newXPath(text)
	if err != nil {
		return nil, fmt.Errorf("xpath %q: %w", text, err)
	}
	x = &xpathExpr{text: text}
	x.pool.Put(expr)
	return x, nil
}

// newXPath compiles; the library panics on some expressions.
func newXPath(text string) (expr *xpath.Expr, err error) {
	defer func() {
		if p := recover(); p != nil {
			expr, err = nil, fmt.Errorf("%v", p)
		}
	}()
	return xpath.Compile(text)
}

// errSteps is what a walker panics with when an expression moves too much; no
// interface of the library could return it.
var errSteps = fmt.Errorf("%w: an xpath moved more than %d times", errBound, maxSteps)

// selectXPath yields what the expression finds from in: nodes, texts for
// attributes and text nodes, and one text for a string, a number or a boolean
// that is true.
func (r *run) selectXPath(in item, x *xpathExpr, yield func(item) bool) (err error) {
	expr, ok := x.pool.Get().(*xpath.Expr)
	if !ok {
		if expr, err = newXPath(x.text); err != nil {
			return fmt.Errorf("xpath %q: %w", x.text, err)
		}
	}
	start := &walker{run: r, left: new(maxSteps)}
	switch in.kind {
	case itemNode:
		start.NodeNavigator = htmlquery.CreateXPathNavigator(in.node)
	case itemXML:
		start.NodeNavigator = xmlquery.CreateXPathNavigator(in.xml)
	default:
		return nil
	}
	found, err := evaluate(expr, start)
	if err != nil {
		return fmt.Errorf("xpath %q: %w", x.text, err) // expr may be in any state: it is dropped
	}
	x.pool.Put(expr)
	for _, i := range found {
		if !yield(i) {
			return nil
		}
	}
	return nil
}

// evaluate returns what an expression finds. The library panics where arguments
// of functions have the wrong type, which can depend on the page.
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
		found = append(found, textItem(strconv.FormatFloat(v, 'f', -1, 64)))
	case bool:
		if v {
			found = append(found, textItem("true"))
		}
	}
	return found, nil
}

// walker moves on behalf of an expression, and counts.
type walker struct {
	xpath.NodeNavigator
	run  *run
	left *int
}

// item returns where the walker is.
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

func (w *walker) step(n int) {
	if *w.left -= n; *w.left < 0 {
		panic(errSteps)
	}
	if *w.left&0xffff == 0 && w.run.ctx.Err() != nil {
		panic(w.run.ctx.Err())
	}
}

// stepBytes is how many bytes of text cost as much as one move.
const stepBytes = 16

// Value is what evaluate pays for by length: that of an element is made anew.
func (w *walker) Value() string {
	v := w.NodeNavigator.Value()
	w.step(1 + len(v)/stepBytes)
	return v
}

func (w *walker) Copy() xpath.NodeNavigator {
	return &walker{w.NodeNavigator.Copy(), w.run, w.left}
}

func (w *walker) MoveTo(other xpath.NodeNavigator) bool {
	o, ok := other.(*walker)
	return ok && w.NodeNavigator.MoveTo(o.NodeNavigator)
}

func (w *walker) MoveToParent() bool   { w.step(1); return w.NodeNavigator.MoveToParent() }
func (w *walker) MoveToChild() bool    { w.step(1); return w.NodeNavigator.MoveToChild() }
func (w *walker) MoveToFirst() bool    { w.step(1); return w.NodeNavigator.MoveToFirst() }
func (w *walker) MoveToNext() bool     { w.step(1); return w.NodeNavigator.MoveToNext() }
func (w *walker) MoveToPrevious() bool { w.step(1); return w.NodeNavigator.MoveToPrevious() }
func (w *walker) MoveToNextAttribute() bool {
	w.step(1)
	return w.NodeNavigator.MoveToNextAttribute()
}

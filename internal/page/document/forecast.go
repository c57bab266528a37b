package document

import (
	"bytes"
	"io"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"seine/internal/base/ascii"
	"seine/internal/page/htmlpage"
)

// forecast calculates an upper bound of the memory of the tree that golang.org/x/net/html builds
// for a page: a node for each token, and copies of formatting elements (HTML standard section
// 13.2.4.3). 100 KB of a page can make gigabytes of these: each paragraph reopens all formatting
// elements that are not closed, with all their attributes.
//
// It does not follow the parser through tags that are not properly nested. A formatting element is
// lost when another element than an inline one is opened or closed in it. Until its own end tag
// comes, properly nested, or to the end of the page, it is counted again for each text and element
// that follows a tag which may close elements.
type forecast struct {
	body   []byte
	tokens *htmlpage.Tokens
	at     int // end of the last token
	left   int // remaining budget

	held int // attributes of the largest tag

	open   []opening
	intact []int // indexes of the formatting elements in open that are not lost

	lost   map[string]family
	copies int  // size of all lost elements that the parser may copy at once
	closed bool // elements may have been closed since the last copy

	// foreign counts the open elements of SVG and MathML, in which the parser reads scripts and
	// styles as markup. points counts those of them that may contain HTML. mixed is set when it is
	// no longer known which is which.
	foreign, points int
	mixed           bool
}

func newForecast(body []byte, most int) *forecast {
	return &forecast{body: body, left: most, tokens: htmlpage.NewTokens(body)}
}

func (f *forecast) run() {
	var t htmlpage.Token
	for f.left >= 0 && f.tokens.Next(&t) {
		f.between(t.From)
		f.at = t.To
		switch {
		case t.Name == nil:
			f.text(f.body[t.From:t.To])
		case t.End:
			f.end(t.Name)
		default:
			f.start(&t)
		}
		f.tokens.AllowCDATA(f.inForeign())
	}
	f.hold(t.Attributes)
	f.between(len(f.body))
}

// hold counts the tokenizer's memory for the largest tag.
func (f *forecast) hold(attributes int) {
	if attributes > f.held {
		f.left -= (attributes - f.held) * (sizePending + sizeRead)
		f.held = attributes
	}
}

// between counts the text before a token: comments and declarations.
func (f *forecast) between(end int) {
	text := f.body[f.at:end]
	if len(text) == 0 {
		return
	}
	f.left -= bytes.Count(text, []byte("<"))*sizeNode + len(text)
	if (f.foreign > 0 || f.mixed) && bytes.Contains(text, []byte("<![CDATA[")) {
		f.rest(f.at)
	}
}

func (f *forecast) text(text []byte) {
	f.left -= sizeNode + len(text)
	f.copy()
	// The parser may end a script at an end tag that the standard treats as hidden.
	from := f.at - len(text)
	if last := len(f.open) - 1; last >= 0 && ascii.Is(f.open[last].name, "script") && bytes.Contains(text, []byte("<!--")) && scriptEnd(f.body[from:]) != len(text) {
		f.rest(from)
	}
}

// scriptEnd returns the position where the parser ends a script.
func scriptEnd(script []byte) int {
	t := html.NewTokenizer(io.MultiReader(strings.NewReader("<script>"), bytes.NewReader(script)))
	t.Next()
	t.Next()
	return len(t.Raw())
}

// copy counts the elements that the parser reopens.
func (f *forecast) copy() {
	if f.closed {
		f.left -= f.copies
		f.closed = false
	}
}

func (f *forecast) start(t *htmlpage.Token) {
	f.left -= sizeNode + t.To - t.From + t.Attributes*sizeRead
	f.copy()
	f.hold(t.Attributes)
	o := opening{name: t.Name, trait: traitOf(t.Name)}
	f.mixed = f.mixed || o.trait&frames != 0
	if f.foreign > 0 || f.mixed {
		f.startInForeign(t, o.trait)
	}
	if f.inForeign() {
		o.inForeign = true
		if o.trait &= foreign | integration; !t.SelfClosing {
			f.push(o)
		}
		return
	}
	if o.trait&onlyOne != 0 && slices.ContainsFunc(f.open[max(0, len(f.open)-near):], o.hasName) {
		f.end(t.Name)
	}
	switch {
	case o.trait&formatting != 0:
		o.tag, o.size = f.body[t.From:t.To], sizeNode+t.Attributes*sizeAttribute
	case o.trait&inline == 0:
		if o.trait&implies != 0 {
			f.left -= 2 * sizeNode
		}
		f.closed = true
		f.loseOpen()
	}
	if o.trait&void == 0 && (!t.SelfClosing || o.trait&foreign == 0) {
		f.push(o)
	}
}

// inForeign reports whether the parser is certainly in SVG or MathML, and not in HTML inside it.
func (f *forecast) inForeign() bool { return f.foreign > 0 && f.points == 0 && !f.mixed }

// startInForeign reads a start tag in possible SVG or MathML.
func (f *forecast) startInForeign(t *htmlpage.Token, is trait) {
	switch {
	case f.inForeign() && is&outside != 0:
		f.leaveForeign()
	case f.inForeign():
		f.tokens.NotRaw()
		f.mixed = is&(formatting|onlyOne) == formatting // a font element
	case t.Raw && !isPlain(f.body[t.To:], t.Name):
		f.rest(f.at)
	default:
		f.mixed = f.mixed || len(f.open) > 0 && f.open[len(f.open)-1].trait&integration != 0
	}
}

// leaveForeign closes all SVG and MathML elements.
func (f *forecast) leaveForeign() {
	f.loseOpen()
	n := len(f.open)
	for ; n > 0 && f.foreign > 0; n-- {
		if f.open[n-1].trait&foreign != 0 {
			f.foreign--
		}
	}
	f.open, f.foreign = f.open[:n], 0
}

// near is the number of open elements that are checked for those that a tag ends. deepest is the
// number kept: the parser has at most 512 open, but ends some that have no end tags.
const near, deepest = 64, 4096

func (f *forecast) push(o opening) {
	if len(f.open) == deepest {
		f.loseOpen()
		f.mixed = f.mixed || f.foreign > 0
		f.open = append(f.open[:0], f.open[deepest/2:]...)
	}
	if o.size > 0 {
		f.intact = append(f.intact, len(f.open))
	}
	if o.isPoint = f.foreign > 0 && o.trait&integration != 0; o.isPoint {
		f.points++
	}
	if o.trait&foreign != 0 {
		f.foreign++
	}
	f.open = append(f.open, o)
}

func (f *forecast) end(name []byte) {
	last := len(f.open) - 1
	of := opening{name: name, trait: traitOf(name)}
	if of.trait&makes != 0 {
		f.left -= sizeNode
	}
	if last >= 0 && f.open[last].hasName(of) {
		f.pop()
		return
	}
	f.closed = true
	f.loseOpen()
	for i := last; i >= 0 && i > last-near; i-- {
		if f.open[i].hasName(of) {
			f.endOuter(i)
			return
		}
	}
	if f.inForeign() && of.trait&makes != 0 {
		f.leaveForeign()
	}
	f.mixed = f.mixed || f.foreign > 0
}

// endOuter reads the end tag of an element that has open elements in it.
func (f *forecast) endOuter(i int) {
	in := f.open[i+1:]
	switch {
	case f.open[i].trait&alone != 0:
		f.open = append(f.open[:i], in...)
	case f.open[i].trait&formatting != 0 && f.foreign == 0: // the adoption agency: section 13.2.6.4.7
		for _, o := range f.open[i:] {
			f.left -= min(8, len(in)) * o.size
		}
		f.open = append(f.open[:i], in...)
	default:
		f.mixed = f.mixed || f.foreign > 0 && f.mayStayOpen(i)
		f.leave(i)
	}
}

// mayStayOpen reports whether the parser may keep the i-th element open after its end tag, because
// of block elements in it. In SVG and MathML no element stays open.
func (f *forecast) mayStayOpen(i int) bool {
	o := f.open[i]
	return !o.inForeign && o.trait&foreign == 0 && (o.trait&(barrier|implies) != 0 || slices.ContainsFunc(f.open[i+1:], opening.isBlock))
}

// leave closes the elements from the i-th on.
func (f *forecast) leave(i int) {
	for _, o := range f.open[i:] {
		f.mixed = f.mixed || o.isPoint
		if o.trait&foreign != 0 {
			f.foreign--
		}
	}
	f.open = f.open[:i]
}

// pop closes the last element, which is properly nested.
func (f *forecast) pop() {
	last := len(f.open) - 1
	o := f.open[last]
	f.open = f.open[:last]
	if n := len(f.intact); n > 0 && f.intact[n-1] == last {
		f.intact = f.intact[:n-1]
	}
	if o.isLost {
		f.lose(o, -1)
	}
	f.closed = f.closed || o.trait&(inline|formatting) == 0
	if o.isPoint {
		f.points--
	}
	if o.trait&foreign != 0 {
		f.foreign--
	}
}

// loseOpen marks all open formatting elements as lost.
func (f *forecast) loseOpen() {
	for _, i := range f.intact {
		f.open[i].isLost = true
		f.lose(f.open[i], 1)
	}
	f.intact = f.intact[:0]
}

// lose counts an element as lost, or no longer lost if n is -1.
func (f *forecast) lose(o opening, n int) {
	key := string(o.tag)
	if o.trait&onlyOne != 0 {
		key = "a"
	}
	if f.lost == nil {
		f.lost = make(map[string]family)
	}
	m, known := f.lost[key]
	if !known {
		f.left -= 2*sizeNode + len(key)
	}
	before := m.copies(o.trait)
	m.n, m.size = m.n+n, max(m.size, o.size)
	f.lost[key] = m
	f.copies += m.copies(o.trait) - before
}

// rest assumes the worst for the page from a byte on, where the positions of tags are unknown: that
// each tag copies all possible formatting elements.
func (f *forecast) rest(from int) {
	text := f.body[from:]
	size, read := f.copies, 0
	for _, o := range f.open {
		size += o.size
	}
	families := make(map[string]int)
	for at := 0; at < len(text); at++ {
		next := bytes.IndexByte(text[at:], '<')
		if next < 0 {
			break
		}
		at += next
		t := tagAt(text[at:])
		f.left -= 3*sizeNode + t.Attributes*sizeRead
		if read += t.To; read > MaxTree { // sum over nested tags
			f.left = -1
		}
		if f.left < 0 {
			return
		}
		if traitOf(t.Name)&formatting == 0 {
			continue
		}
		tag := string(text[at : at+t.To])
		if families[tag]++; families[tag] <= 3 {
			size += sizeNode + t.Attributes*sizeAttribute
		}
	}
	f.left -= bytes.Count(text, []byte("<")) * size
}

// tagAt returns the start tag at the beginning of a text, without a name if there is none.
func tagAt(text []byte) (t htmlpage.Token) {
	if htmlpage.NewTokens(text).Next(&t); t.From > 0 || t.End {
		t.Name = nil
	}
	return t
}

// isPlain reports whether a text up to an end tag also ends there in SVG. This is the case if it
// has no tags.
func isPlain(text, name []byte) bool {
	end := bytes.Index(text, append([]byte("</"), name...))
	if end < 0 {
		return false
	}
	before, section, _ := bytes.Cut(text[:end], []byte("<![CDATA["))
	_, behind, _ := bytes.Cut(section, []byte("]]>"))
	return bytes.IndexByte(before, '<') < 0 && bytes.IndexByte(behind, '<') < 0 && bytes.HasSuffix(section, behind)
}

// opening is an open element.
type opening struct {
	name   []byte
	trait  trait
	tag    []byte // of a formatting element
	size   int    // of a copy
	isLost bool

	isPoint   bool // counted in points
	inForeign bool // in SVG or MathML, and of that namespace
}

// isBlock reports whether the element may keep elements around it open.
func (o opening) isBlock() bool { return o.trait&(inline|formatting) == 0 }

func (o opening) hasName(p opening) bool {
	return len(o.name) == len(p.name) && bytes.EqualFold(o.name, p.name)
}

// family is a set of lost elements with equal tags: the parser copies at most three of them.
type family struct{ n, size int }

func (m family) copies(t trait) int {
	if t&onlyOne != 0 {
		return min(m.n, 1) * m.size
	}
	return min(m.n, 3) * m.size
}

// trait is the effect of an element on the forecast.
type trait uint16

const (
	formatting trait = 1 << iota
	onlyOne          // a new one ends the previous one
	inline           // closes no element
	void
	implies     // a row and the elements around it
	foreign     // element of SVG or MathML
	integration // contains HTML in SVG or MathML
	outside     // ends SVG and MathML
	alone       // its end tag ends no element in it
	frames      // may replace the whole page
	barrier     // elements around it are not ended inside it
	makes       // an end tag without a start tag creates one
)

func traitOf(name []byte) trait {
	var lower [16]byte
	if len(name) > len(lower) {
		return 0
	}
	for i, c := range name {
		lower[i] = ascii.Lower(c)
	}
	switch string(lower[:len(name)]) {
	case "a":
		return formatting | onlyOne
	case "nobr":
		return formatting | onlyOne | outside
	case "b", "big", "code", "em", "i", "s", "small", "strike", "strong", "tt", "u":
		return formatting | outside
	case "font":
		return formatting
	case "applet", "button", "caption", "marquee", "object", "optgroup", "option", "rb", "rp", "rt", "rtc", "select", "template":
		return barrier
	case "br":
		return inline | void | makes | outside
	case "img":
		return inline | void | outside
	case "input", "wbr":
		return inline | void
	case "span", "sub", "sup", "var":
		return inline | outside
	case "p":
		return makes | outside
	case "blockquote", "center", "div", "dl", "listing", "menu", "ol", "pre", "ruby", "ul":
		return outside
	case "dd", "dt", "h1", "h2", "h3", "h4", "h5", "h6", "li":
		return outside | barrier
	case "abbr", "cite", "del", "dfn", "ins", "kbd", "label", "mark", "q", "samp", "time":
		return inline
	case "body", "embed", "head", "hr", "meta":
		return void | outside
	case "area", "base", "basefont", "bgsound", "frame", "html", "image", "keygen", "link", "param", "source", "track":
		return void
	case "col":
		return void | implies
	case "frameset":
		return void | frames
	case "table":
		return implies | outside
	case "colgroup", "tbody", "td", "tfoot", "th", "thead", "tr":
		return implies
	case "title":
		return integration
	case "form":
		return alone
	case "math", "svg":
		return foreign
	case "annotation-xml", "desc", "foreignobject", "mi", "mn", "mo", "ms", "mtext":
		return integration
	}
	return 0
}

package document

import (
	"fmt"
	"io"
	"reflect"
	"slices"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// buildHTML makes the DOM of a page, and ends when that has taken MaxTree bytes.
// From 100 KB, unclosed formatting elements and paragraphs make gigabytes: each
// paragraph opens all of them again, with all their attributes.
func buildHTML(body []byte) (*html.Node, error) {
	b := &builder{body: body, left: MaxTree}
	return b.build()
}

func (b *builder) build() (*html.Node, error) {
	root, err := html.ParseWithOptions(b, html.ParseOptionEnableScripting(false), b.option())
	b.count(0)
	b.parser = watched{} // with its buffers
	switch {
	case b.err != nil:
		return nil, b.err
	case err != nil:
		return nil, fmt.Errorf("build DOM: %w", err)
	case b.left < 0:
		return nil, errTree("its DOM")
	}
	return root, nil
}

// builder is what the parser reads the page from. It hands out one tag after the
// other, and before each looks at what the parser has built of those before: at
// its stack of open elements and its list of active formatting elements (HTML
// standard section 13.2.4), where clones appear. The parser shows them to nobody,
// so they are read by reflection; TestParserShowsWhatItBuilds tells when they are
// no longer there.
type builder struct {
	body []byte
	at   int
	left int // of MaxTree
	err  error

	parser watched
	open   []uintptr // elements, by where they are in memory
	spare  []uintptr // to write the next ones to
	active []format
	piece  []byte // that was handed out last
	held   int    // of the token that the piece continues
}

// watched are the parts of the parser that are looked at.
type watched struct {
	open, active reflect.Value // lists of *html.Node
	// The last token: its type, its name, its attributes.
	token, name, attributes reflect.Value
	// The one that is being read: its attributes, and how long it is so far.
	pending, held reflect.Value
}

// format is an active formatting element.
type format struct {
	node uintptr
	name atom.Atom
	size int // of a clone
}

// option is an option that does nothing but remember the parser.
func (b *builder) option() html.ParseOption {
	made := reflect.MakeFunc(reflect.TypeFor[html.ParseOption](), func(args []reflect.Value) []reflect.Value {
		p := args[0].Elem()
		tok, z := p.FieldByName("tok"), p.FieldByName("tokenizer").Elem()
		b.parser = watched{
			open: p.FieldByName("oe"), active: p.FieldByName("afe"),
			token: tok.FieldByName("Type"), name: tok.FieldByName("DataAtom"), attributes: tok.FieldByName("Attr"),
			pending: z.FieldByName("attr"), held: z.FieldByName("raw").FieldByName("end"),
		}
		return nil
	})
	return made.Interface().(html.ParseOption)
}

// Read hands out the next piece of the page.
func (b *builder) Read(p []byte) (int, error) {
	held := int(b.parser.held.Int())
	b.count(held)
	pending := len(p) + held + b.parser.pending.Len()*(sizePending+sizeRead)
	if b.left < pending {
		b.err = errTree("its DOM")
		return 0, b.err
	}
	if b.at == len(b.body) {
		return 0, io.EOF
	}
	b.piece, b.held = b.next(min(len(p), len(b.body)-b.at)), held
	b.at += len(b.piece)
	return copy(p, b.piece), nil
}

// next returns the next piece, of at most so many bytes: up to the end of a tag, or
// just into one, where the text before it ends. The tokenizer does not copy what it
// has of a token for each piece of it.
func (b *builder) next(most int) []byte {
	rest := b.body[b.at : b.at+most]
	for i, c := range rest {
		switch c {
		case '>':
			return rest[:i+1]
		case '<':
			return rest[:min(i+len("<p"), most)]
		}
	}
	return rest
}

// count takes from the budget what the parser has made of the last piece. Of the
// token that it is reading, it holds so many bytes.
func (b *builder) count(held int) {
	whole := b.held + len(b.piece)
	if held >= whole {
		return // it still reads the same one
	}
	built := whole - held + b.adopted() + b.made(b.opened())
	b.formatted()
	b.left -= built
}

// made returns the size of what the last token made, with the elements that it
// opened.
func (b *builder) made(opened int) int {
	switch html.TokenType(b.parser.token.Uint()) {
	case html.TextToken:
		return sizeNode + opened
	case html.EndTagToken:
		if text[atom.Atom(b.parser.name.Uint())] {
			return sizeNode + opened
		}
		return opened
	case html.StartTagToken, html.SelfClosingTagToken:
		if opened > 0 {
			return opened
		}
		return sizeNode + b.parser.attributes.Len()*sizeRead // it is never open
	default: // a comment, or a doctype
		return sizeNode
	}
}

// text are elements whose content is one text, which comes with the end tag.
var text = map[atom.Atom]bool{
	atom.Script: true, atom.Style: true, atom.Title: true, atom.Textarea: true, atom.Xmp: true, atom.Iframe: true, atom.Noembed: true,
	atom.Noframes: true,
}

// attributesOf and nameOf are which fields of a node they are.
var attributesOf, nameOf = fieldOfNode("Attr"), fieldOfNode("DataAtom")

func fieldOfNode(name string) int {
	f, _ := reflect.TypeFor[html.Node]().FieldByName(name)
	return f.Index[0]
}

// opened returns the size of the elements that are open and were not before.
func (b *builder) opened() int {
	n := b.parser.open.Len()
	from := min(n, len(b.open)) // what changes is at the end
	for from > 0 && b.parser.open.Index(from-1).Pointer() != b.open[from-1] {
		from--
	}
	if b.adopts() { // what changes is from the element that the tag ends
		f := b.activeOf(atom.Atom(b.parser.name.Uint()))
		from = min(from, max(0, slices.Index(b.open, f.node)))
	}
	size, was := 0, from
	now := append(b.spare[:0], b.open[:from]...)
	for i := from; i < n; i++ {
		v := b.parser.open.Index(i)
		node := v.Pointer()
		now = append(now, node)
		switch {
		case was < len(b.open) && b.open[was] == node:
			was++
			continue
		case was+1 < len(b.open) && b.open[was+1] == node: // one was taken out
			was += 2
			continue
		}
		each := sizeAttribute
		if i == n-1 { // which may be no clone
			each = sizeRead
		}
		size += sizeNode + v.Elem().Field(attributesOf).Len()*each
	}
	b.open, b.spare = now, b.open
	return size
}

// adopts reports whether the last token may run the adoption agency algorithm, which
// changes what is open anywhere (HTML standard section 13.2.6.4.7).
func (b *builder) adopts() bool {
	name := atom.Atom(b.parser.name.Uint())
	if b.parser.token.Uint() != uint64(html.EndTagToken) && name != atom.A && name != atom.Nobr {
		return false
	}
	return b.activeOf(name) != nil
}

// marker is the name of the markers in the list of active formatting elements.
const marker = atom.Atom(0)

// activeOf returns the last active formatting element of a name, nil if none is
// behind the last marker: the parser looks no further.
func (b *builder) activeOf(name atom.Atom) *format {
	for i := len(b.active) - 1; i >= 0 && b.active[i].name != marker; i-- {
		if f := &b.active[i]; f.name == name {
			return f
		}
	}
	return nil
}

// formatted looks at which formatting elements are active now.
func (b *builder) formatted() {
	n := b.parser.active.Len()
	from := min(n, len(b.active))
	for from > 0 && b.active[from-1].name != marker { // what is below the last marker stays
		from--
	}
	for i := from; i < n; i++ {
		v := b.parser.active.Index(i)
		node := v.Pointer()
		if i < len(b.active) && b.active[i].node == node {
			continue
		}
		e := v.Elem()
		f := format{node, atom.Atom(e.Field(nameOf).Uint()), sizeNode + e.Field(attributesOf).Len()*sizeAttribute}
		b.active = append(b.active[:min(i, len(b.active))], f)
	}
	b.active = b.active[:n]
}

// adopted returns the size of the clones that this algorithm made for the last tag
// and put out of sight: of the formatting element that the tag ends, one for each
// block in it, and at most eight.
func (b *builder) adopted() int {
	const most = 8
	if !b.adopts() {
		return 0
	}
	f := b.activeOf(atom.Atom(b.parser.name.Uint()))
	return f.size * min(most, len(b.open)-1-slices.Index(b.open, f.node))
}

package htmlpage

import "seine/internal/base/ascii"

// Token is a tag of a page, or the text between two of them.
type Token struct {
	From, To int // on the page

	Name        []byte // of a tag, in the page's case; nil for a text
	End         bool   // set for an end tag
	SelfClosing bool
	Attributes  int  // number of attributes
	Raw         bool // the content up to the end tag is text without markup
}

// Tokens reads the tags and texts of a UTF-8 page in order, as the tokenizer of the HTML standard
// does for a reader without scripts, outside SVG and MathML. It omits comments and declarations.
type Tokens struct {
	t tokenizer
	// raw is the text of the element just opened, up to its end tag.
	raw Token
}

// NewTokens returns a reader of a page.
func NewTokens(page []byte) *Tokens {
	r := new(Tokens)
	r.t.reset(page)
	return r
}

// Next reads the next token, and reports whether there is one. After the last one, token has the
// attributes of an unfinished tag.
func (r *Tokens) Next(token *Token) bool {
	raw := r.raw
	if r.raw = (Token{}); raw.To > raw.From {
		*token = raw
		return true
	}
	kind := r.t.next()
	*token = Token{From: r.t.from, To: r.t.pos, Attributes: r.t.seenAttrs}
	switch kind {
	case tokenEnd:
		return false
	case tokenStart, tokenClose:
		token.Name, token.SelfClosing = r.t.name, r.t.selfClosing
		token.End = kind == tokenClose
		if !token.End {
			token.Raw = r.readRaw()
		}
	default:
	}
	return true
}

// NotRaw makes the content of the last start tag ordinary markup, as in SVG and MathML.
func (r *Tokens) NotRaw() {
	if r.raw.To > 0 {
		r.t.pos, r.raw = r.raw.From, Token{}
	}
}

// AllowCDATA sets whether CDATA sections are texts, as in SVG and MathML, or comments.
func (r *Tokens) AllowCDATA(is bool) { r.t.cdata = is }

// readRaw reads the text of an element that cannot contain markup.
func (r *Tokens) readRaw() bool {
	from := r.t.pos
	_, is := r.t.readContent(lookup(r.t.name))
	if !is && ascii.Is(r.t.name, "noframes") {
		r.t.readRaw("noframes")
		is = true
	}
	if is {
		r.raw = Token{From: from, To: r.t.pos}
	}
	return is
}

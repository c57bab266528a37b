package htmlpage

import (
	"errors"
	"fmt"
	"math"
	"sync"

	"seine/internal/base/weburl"
	"seine/internal/page/charset"
	"seine/internal/page/mediatype"
)

// ErrTooLarge is returned for a page whose UTF-8 form exceeds 2 GiB, the limit of the tokenizer's
// offsets.
var ErrTooLarge = errors.New("page too large")

// Scan reads the HTML page body, fetched from pageURL with the given Content-Type header, which may
// be empty. It does not keep or change body.
//
// Markup never makes Scan fail. It fails only if pageURL cannot be a base, or the page is too
// large.
func Scan(body []byte, pageURL, contentType string, opts Options) (Page, error) {
	doc, err := weburl.NewBase(pageURL)
	if err != nil {
		return Page{}, fmt.Errorf("scan page: %w", err)
	}
	xml := opts.XML || isXML(contentType)
	text, encoding := decode(body, contentType, xml)
	if len(text) > math.MaxInt32 {
		return Page{}, ErrTooLarge
	}
	s := scanners.Get().(*scanner)
	defer s.release()
	s.reset(text, opts.withDefaults())
	s.run()
	s.page.Charset = encoding.Name()
	s.page.Content = s.own.print(s.text.buf, pageURL)
	if encoding.Reencodes() {
		s.encodeQueries(encoding)
	}
	return s.finish(doc, doc.URL()+weburl.Route(pageURL)), nil
}

func decode(body []byte, contentType string, xml bool) ([]byte, charset.Encoding) {
	if xml {
		text, encoding := charset.DecodeXML(body, contentType)
		return FromXML(text), encoding
	}
	return charset.Decode(body, contentType)
}

// encodeQueries encodes the queries of all references in the encoding of the page (URL standard
// section 4.4, query state).
func (s *scanner) encodeQueries(e charset.Encoding) {
	s.baseRef = e.Reference(s.baseRef)
	for i, ref := range s.canonicalRefs {
		s.canonicalRefs[i] = e.Reference(ref)
	}
	for i := range s.links.refs {
		s.links.refs[i].ref = e.Reference(s.links.refs[i].ref)
	}
}

var scanners = sync.Pool{New: func() any { return new(scanner) }}

// maxPooledText bounds the text buffer kept for reuse.
const maxPooledText = 2 * DefaultMaxText

// scanner is the state of one Scan. It is reused; reset sets all of it.
type scanner struct {
	tokens tokenizer
	opts   Options
	page   Page

	text    folder
	small   folder // title and description
	own     ownText
	links   linkSet
	decoded [numBuffers][]byte // see value

	// Texts of a link and of a heading, see collect.
	anchor, heading folder
	anchorRef       int // of the open link, or noReference
	headingLevel    int // of the open heading, or 0
	collecting      bool

	// Numbers of these elements that are open. End tags without a start tag do not count, and each
	// element counts only its own nesting.
	templates, noscripts, svgs, maths, foreignObjects int

	// First occurrences, which are distinguished from empty values.
	seenTitle, seenBase, seenRefresh bool

	ruby          ruby
	baseRef       string
	canonicalRefs []string
	langRank      int
}

func (s *scanner) reset(in []byte, opts Options) {
	s.tokens.reset(in)
	s.opts, s.page = opts, Page{}
	s.text.reset(opts.MaxText)
	s.small.reset(maxField)
	s.own.reset()
	s.links.reset(opts.MaxLinks)
	s.links.routes = opts.Routes
	s.templates, s.noscripts, s.svgs, s.maths, s.foreignObjects = 0, 0, 0, 0, 0
	s.seenTitle, s.seenBase, s.seenRefresh = false, false, false
	s.baseRef, s.canonicalRefs, s.langRank = "", nil, langNone
	s.anchorRef, s.headingLevel, s.collecting, s.ruby = noReference, 0, false, rubyNone
}

// release returns the scanner to the pool, without the page and without large buffers.
func (s *scanner) release() {
	s.reset(nil, Options{})
	if cap(s.text.buf) > maxPooledText {
		s.text.buf = nil
	}
	if cap(s.links.refs) > maxPooled {
		s.links.refs = nil
	}
	for i := range s.decoded {
		if cap(s.decoded[i]) > maxRef {
			s.decoded[i] = nil
		}
	}
	scanners.Put(s)
}

func isXML(contentType string) bool {
	return mediatype.Declared(contentType) == "application/xhtml+xml"
}

func (s *scanner) run() {
	for {
		switch s.tokens.next() {
		case tokenEnd:
			return
		case tokenText:
			s.write(s.tokens.text, true)
		case tokenRaw:
			s.write(s.tokens.text, false)
		case tokenStart:
			if len(s.opts.Attributes) > 0 && s.templates == 0 {
				linkReader{s}.addAttributes()
			}
			s.open(lookup(s.tokens.name))
		case tokenClose:
			s.close(lookup(s.tokens.name))
		}
	}
}

// hidden reports whether text is invisible here.
func (s *scanner) hidden() bool { return s.templates+s.noscripts+s.svgs > 0 }

func (s *scanner) separate(g gap) {
	if !s.hidden() {
		if g == gapLine {
			s.endReading()
		}
		s.text.separate(g)
		if s.collecting {
			s.separateCollected()
		}
	}
}

func (s *scanner) write(b []byte, references bool) {
	if !s.hidden() {
		if s.ruby == rubyReadingDue && len(trimSpace(b)) > 0 {
			s.ruby = rubyReading
			s.write([]byte{'('}, false)
		}
		s.text.write(b, references)
		if s.collecting {
			s.collect(b, references)
		}
	}
}

// finish resolves references, which need the base element.
func (s *scanner) finish(doc *weburl.Base, self string) Page {
	s.endAnchor()
	s.endHeading()
	p := s.page
	p.Text = s.text.String()
	base := s.documentBase(doc)
	p.Canonical = firstResolved(base, s.canonicalRefs)
	p.Links = s.links.resolve(base, self, s.opts.MaxLinks)
	return p
}

// documentBase returns the base of references: the base element's URL if it has a usable one, else
// the page's (section 2.4.3).
func (s *scanner) documentBase(doc *weburl.Base) *weburl.Base {
	if s.baseRef == "" {
		return doc
	}
	u, err := doc.Resolve(s.baseRef)
	if err != nil {
		return doc
	}
	base, err := weburl.NewBase(u)
	if err != nil {
		return doc
	}
	return base
}

func firstResolved(base *weburl.Base, refs []string) string {
	for _, ref := range refs {
		if u, err := base.Resolve(ref); err == nil {
			return u
		}
	}
	return ""
}

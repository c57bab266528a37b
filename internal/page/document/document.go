// Package document represents a fetched document for rules: its URL and type, its body as UTF-8,
// and the forms that selectors use: a DOM, an XML tree, JSON values, JSON-LD.
//
// Each form is built once, on first use, and its error is kept. Unused forms cost nothing: New only
// keeps its arguments.
//
// A document's bytes alone do not bound time and memory. So each form has limits (the constants of
// this package), beyond which an error that wraps [ErrTooBig] is returned. All operations are
// linear in the body.
//
// A Document is not safe for concurrent use. It owns its results, which callers must not change.
package document

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/PuerkitoBio/goquery"
	"github.com/antchfx/xmlquery"
	"golang.org/x/net/html"

	"seine/internal/base/weburl"
	"seine/internal/page/article"
	"seine/internal/page/charset"
	"seine/internal/page/mediatype"
	"seine/internal/page/structured"
)

// Errors of forms that a document lacks.
var (
	// ErrTooBig is wrapped if a document exceeds a limit of this package.
	ErrTooBig = errors.New("document is too large for rules")
	// ErrForm is wrapped if a document's type lacks the requested form.
	ErrForm = errors.New("document has another format")
)

// Source is a fetched response.
type Source struct {
	URL    string              // canonical
	Status int                 // of the response
	Header map[string][]string // of the response; names in canonical form
	Body   []byte              // as fetched, with content codings removed

	Content article.Options // options of the main content
}

// Document is a fetched document with the forms built so far.
type Document struct {
	URL    string
	Status int
	Header map[string][]string
	Type   mediatype.Type

	options article.Options
	raw     []byte
	broken  string
	made    []byte // HTML that the body was converted to
	decoded lazy[decoded]
	dom     lazy[*goquery.Document]
	json    lazy[any]
	xml     lazy[*xmlquery.Node]
	ld      lazy[[]any]
	text    lazy[string]
	base    lazy[*weburl.Base]
	baseURL lazy[string]
	params  lazy[url.Values]

	main     lazy[article.Content]
	sections lazy[[]*html.Node]

	pageField func(name string) []byte
	fields    map[string]lazy[any]
}

type decoded struct {
	body     []byte
	encoding charset.Encoding
}

// lazy is a value that is computed on first use.
type lazy[T any] struct {
	done  bool
	value T
	err   error
}

func (o *lazy[T]) get(make func() (T, error)) (T, error) {
	if !o.done {
		o.value, o.err = make()
		o.done = true
	}
	return o.value, o.err
}

// New returns the document of a response. It keeps s.Body and s.Header.
func New(s Source) *Document {
	h := http.Header(s.Header)
	nosniff := strings.EqualFold(strings.TrimSpace(h.Get("X-Content-Type-Options")), "nosniff")
	return &Document{
		URL: s.URL, Status: s.Status, Header: s.Header, raw: s.Body, options: s.Content,
		Type: mediatype.Of(h.Get("Content-Type"), s.Body, nosniff),
	}
}

// IsXHTML reports whether the document is a page in XML.
func (d *Document) IsXHTML() bool { return d.Type.Media == "application/xhtml+xml" }

// SetHTML sets the HTML that a document was converted to. From then on the document has the forms
// of a page.
func (d *Document) SetHTML(page []byte) { d.made = page }

// IsHTML reports whether the document is a page, or was converted to one.
func (d *Document) IsHTML() bool { return d.Type.Class == mediatype.HTML || d.made != nil }

// Raw returns the body as fetched.
func (d *Document) Raw() []byte { return d.raw }

// Body returns the body as valid UTF-8, decoded according to its type. The body of a document that
// is not text is returned as fetched.
func (d *Document) Body() []byte { return d.decode().body }

// Encoding returns the encoding of the body, or the zero value if the document is not text.
func (d *Document) Encoding() charset.Encoding { return d.decode().encoding }

func (d *Document) decode() decoded {
	v, _ := d.decoded.get(func() (decoded, error) {
		contentType := http.Header(d.Header).Get("Content-Type")
		var v decoded
		if d.made != nil {
			v.body, v.encoding = charset.Decode(d.made, "text/html; charset=utf-8")
			return v, nil
		}
		switch d.Type.Class {
		case mediatype.HTML:
			if d.IsXHTML() { // it is XML, and so is its encoding declaration
				v.body, v.encoding = charset.DecodeXML(d.raw, contentType)
				break
			}
			v.body, v.encoding = charset.Decode(d.raw, contentType)
		case mediatype.XML, mediatype.Feed, mediatype.Sitemap:
			v.body, v.encoding = charset.DecodeXML(d.raw, contentType)
		case mediatype.JSON, mediatype.NDJSON, mediatype.CSV, mediatype.Text:
			v.body, v.encoding = charset.DecodeText(d.raw, contentType)
		default:
			v.body = d.raw
		}
		return v, nil
	})
	return v
}

// Parameter returns the first value of a parameter of the URL's query.
func (d *Document) Parameter(name string) (string, bool) {
	values, _ := d.params.get(func() (url.Values, error) {
		_, query, _ := strings.Cut(d.URL, "?")
		values, _ := url.ParseQuery(query) // malformed parameters are dropped
		return values, nil
	})
	if vs, ok := values[name]; ok && len(vs) > 0 {
		return vs[0], true
	}
	return "", false
}

// Base returns the base for references in the document: that of the base element of a page,
// otherwise the document's URL.
func (d *Document) Base() (*weburl.Base, error) {
	return d.base.get(func() (*weburl.Base, error) { return weburl.NewBase(d.BaseURL()) })
}

// BaseURL returns the URL to which references in the document are relative.
func (d *Document) BaseURL() string {
	u, _ := d.baseURL.get(func() (string, error) {
		if root, err := d.Root(); err == nil {
			return structured.BaseURL(root, d.URL), nil
		}
		return d.URL, nil // a page without a DOM has no base element
	})
	return u
}

// Resolve returns the canonical URL of a reference in the document, with its query in the
// document's encoding.
func (d *Document) Resolve(ref string) (string, error) {
	base, err := d.Base()
	if err != nil {
		return "", err
	}
	return base.Resolve(d.Encoding().Reference(ref))
}

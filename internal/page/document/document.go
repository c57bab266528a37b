// Package document is one fetched thing as rules see it: its URL and type, its
// body as UTF-8, and the forms that selectors work on: a DOM, a tree of XML,
// JSON values, JSON-LD.
//
// Each form is made once, when it is first asked for, and its error is kept with
// it. What is never asked for costs nothing: New only keeps what it is given.
//
// Foreign bytes bound neither time nor memory by themselves, so each form has
// limits (the constants of this package), beyond which there is an error that
// wraps [ErrTooBig] instead of a form. Everything is linear in the body.
//
// A Document is for one goroutine. What it returns belongs to it: callers read,
// and change nothing.
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

// Errors of forms that a document does not have.
var (
	// ErrTooBig is wrapped where a document exceeds a limit of this package.
	ErrTooBig = errors.New("document is too big for rules")
	// ErrForm is wrapped where a form is asked for that the type does not have.
	ErrForm = errors.New("document has no such form")
)

// Source is what was fetched.
type Source struct {
	URL    string              // canonical
	Status int                 // of the response
	Header map[string][]string // of the response; names in canonical form
	Body   []byte              // as fetched, content codings removed

	Content article.Options // of the main content
}

// Document is a fetched thing and the forms made of it so far.
type Document struct {
	URL    string
	Status int
	Header map[string][]string
	Type   mediatype.Type

	options article.Options
	raw     []byte
	broken  string
	made    []byte // HTML that was made of it
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

// lazy is a value made when it is first asked for.
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

// New returns the document of what was fetched. It keeps s.Body and s.Header.
func New(s Source) *Document {
	h := http.Header(s.Header)
	nosniff := strings.EqualFold(strings.TrimSpace(h.Get("X-Content-Type-Options")), "nosniff")
	return &Document{
		URL: s.URL, Status: s.Status, Header: s.Header, raw: s.Body, options: s.Content,
		Type: mediatype.Of(h.Get("Content-Type"), s.Body, nosniff),
	}
}

// IsXHTML reports whether the document is a page that is XML.
func (d *Document) IsXHTML() bool { return d.Type.Media == "application/xhtml+xml" }

// SetHTML gives a document that is no page the HTML that was made of it: from then on it has what a page has.
func (d *Document) SetHTML(page []byte) { d.made = page }

// IsHTML reports whether the document is a page, or has one.
func (d *Document) IsHTML() bool { return d.Type.Class == mediatype.HTML || d.made != nil }

// Raw returns the body as it was fetched.
func (d *Document) Raw() []byte { return d.raw }

// Body returns the body as valid UTF-8, decoded as its type asks. That of a
// document that is no text is as it was fetched.
func (d *Document) Body() []byte { return d.decode().body }

// Encoding returns the encoding that the body is in. It is zero if the document
// is no text.
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
			if d.IsXHTML() { // is XML, and so is how it is encoded
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
		values, _ := url.ParseQuery(query) // what is malformed is left out
		return values, nil
	})
	if vs, ok := values[name]; ok && len(vs) > 0 {
		return vs[0], true
	}
	return "", false
}

// Base returns what references in the document are resolved against: the base
// element of a page, else the document's URL.
func (d *Document) Base() (*weburl.Base, error) {
	return d.base.get(func() (*weburl.Base, error) { return weburl.NewBase(d.BaseURL()) })
}

// BaseURL returns the URL that references in the document are relative to.
func (d *Document) BaseURL() string {
	u, _ := d.baseURL.get(func() (string, error) {
		if root, err := d.Root(); err == nil {
			return structured.BaseURL(root, d.URL), nil
		}
		return d.URL, nil // a page without a DOM has no base element
	})
	return u
}

// Resolve returns the canonical URL of a reference in the document, its query
// encoded as the document is.
func (d *Document) Resolve(ref string) (string, error) {
	base, err := d.Base()
	if err != nil {
		return "", err
	}
	return base.Resolve(d.Encoding().Reference(ref))
}

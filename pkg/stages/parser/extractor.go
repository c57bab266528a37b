package parser

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/PuerkitoBio/goquery"

	"seine/internal/base/jsontext"
	"seine/internal/base/lazyregexp"
	"seine/internal/page/document"
	"seine/pkg/crawlspec"
)

// Extractor reads documents that the parser cannot read, or not as well. It is for programs that
// extend the parser (command.Parser).
//
// Its output must depend only on the document: after a crash, or when pages are parsed again, it
// receives the same document and must return the same output. It may be called from several
// goroutines.
type Extractor interface {
	// Matches reports whether the extractor reads a document. It is called for every document, so
	// it should check only the type or the URL. The first extractor that matches replaces the
	// parser's own readers.
	Matches(d *Document) bool
	// Extract reads a document. An error sends the page to DEAD, with the error as the reason; it
	// should return when ctx is done.
	Extract(ctx context.Context, d *Document) (*Extract, error)
}

// Document is a fetched document.
type Document struct {
	URL         string
	Status      int
	Header      http.Header
	ContentType string // as in the header
	MediaType   string // by the header, otherwise by the first bytes, as in "text/calendar"
	FetchedAt   time.Time
	Body        []byte // without content codings; must not be modified

	page *document.Document
}

// DOM returns the tree of an HTML page, in UTF-8. It is built at the first call, and shared with
// the rules of the spec: do not change it. It returns an error if the document is not HTML or its
// tree would take too much memory.
func (d *Document) DOM() (*goquery.Document, error) {
	if d.page == nil {
		d.page = document.New(document.Source{URL: d.URL, Status: d.Status, Header: d.Header, Body: d.Body})
	}
	return d.page.DOM()
}

// Extract is the output of an Extractor for a document.
type Extract struct {
	// Fields of the record of the page.
	Title, Description, Language, Text string
	// Links to follow, absolute or relative to the document.
	Links []string
	// Further records beside that of the page.
	Records []ExtractRecord
}

// ExtractRecord is a separate record.
type ExtractRecord struct {
	Kind string // as in a record rule: a lower-case letter, then letters, digits and '_'
	Key  string // the record's "key"; may be empty
	// Fields is a struct or a map that encoding/json encodes as an object. Names that every record
	// has (crawlspec.ReservedFields) are not allowed.
	Fields any
}

// extractorOf returns the extractor for a document, nil if there is none.
func (p *Parser) extractorOf(d *Document) Extractor {
	i := slices.IndexFunc(p.extractors, func(x Extractor) bool { return x.Matches(d) })
	if i < 0 {
		return nil
	}
	return p.extractors[i]
}

var kindPattern = lazyregexp.New(`^[a-z][a-z0-9_]*$`)

// jsonMember is one field of a record.
type jsonMember struct {
	name  string
	value json.RawMessage
}

// members returns the fields in encoding/json's form and order.
func (r *ExtractRecord) members() ([]jsonMember, error) {
	if !kindPattern().MatchString(r.Kind) {
		return nil, fmt.Errorf("kind %q: must be a lower-case letter, then letters, digits and '_'", r.Kind)
	}
	b, err := json.Marshal(r.Fields)
	if err != nil {
		return nil, fmt.Errorf("record %s: %w", r.Kind, err)
	}
	if b[0] != '{' {
		return nil, fmt.Errorf("record %s: its fields are not a JSON object", r.Kind)
	}
	var all []jsonMember
	fields := jsontext.MembersOf(b)
	for name, value, ok := fields.Next(); ok; name, value, ok = fields.Next() {
		m := jsonMember{string(jsontext.AppendText(nil, name)), value}
		if slices.Contains(crawlspec.ReservedFields, m.name) {
			return nil, fmt.Errorf("record %s: field %q exists in every record: give it another name", r.Kind, m.name)
		}
		all = append(all, m)
	}
	return all, nil
}

package document

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"

	"github.com/antchfx/xmlquery"

	"seine/internal/base/humanize"
	"seine/internal/page/mediatype"
	"seine/internal/page/xmlstream"
)

// XML returns the tree of an XML document. For a malformed document, it returns the readable parts,
// and Broken describes the fault.
func (d *Document) XML() (*xmlquery.Node, error) {
	return d.xml.get(func() (*xmlquery.Node, error) {
		switch d.Type.Class {
		case mediatype.XML, mediatype.Feed, mediatype.Sitemap:
		default:
			return nil, fmt.Errorf("%w: %s is not XML", ErrForm, d.Type.Class)
		}
		root, err := parseXML(d.Body())
		if err == nil || errors.Is(err, ErrTooBig) {
			return root, err
		}
		text, repairs, broken := xmlstream.Mended(d.Body())
		if broken != nil {
			return nil, err
		}
		mended, broken := parseXML(text)
		if broken != nil {
			return nil, err
		}
		d.broken = fmt.Sprintf("%v; the readable part was used, with %s corrected", err, humanize.Plural(max(repairs, 1), "place"))
		return mended, nil
	})
}

// Broken describes the fault of a malformed document that was read nevertheless, or returns "".
// Only XML, NDJSON and CSV are checked, when their values are first requested.
func (d *Document) Broken() string { return d.broken }

func parseXML(body []byte) (root *xmlquery.Node, err error) {
	if len(body) > MaxData {
		return nil, fmt.Errorf("%w: it has %d bytes, at most %d are read", ErrTooBig, len(body), MaxData)
	}
	switch size, depth := sizeOfXML(body); {
	case size > MaxTree:
		return nil, errTree("its tree of XML")
	case depth > MaxDepth: // the library uses recursion
		return nil, fmt.Errorf("%w: its elements are nested more than %d deep", ErrTooBig, MaxDepth)
	}
	defer func() { // the library panics on some undeclared prefixes
		if p := recover(); p != nil {
			root, err = nil, fmt.Errorf("read XML: %v", p)
		}
	}()
	root, err = xmlquery.ParseWithOptions(bytes.NewReader(body), xmlquery.ParserOptions{Decoder: &xmlquery.DecoderOptions{
		Strict: false, Entity: xml.HTMLEntity, AutoClose: nil,
		CharsetReader: func(_ string, in io.Reader) (io.Reader, error) { return in, nil }, // it is UTF-8 already
	}})
	if err != nil {
		return nil, fmt.Errorf("read XML: %w", err)
	}
	return root, nil
}

// sizeOfXML returns an upper bound of the memory of a tree and the depth of its elements: XML has
// nothing that expands.
func sizeOfXML(body []byte) (size, deepest int) {
	size = len(body)
	depth := 0
	var tag attributesOfXML
	for i := 0; i < len(body); i++ {
		if tag.open {
			if tag.read(body[i]) {
				continue
			}
			size += max(tag.values, tag.words) * sizeXMLAttribute
			if body[i-1] == '/' {
				depth--
			}
		}
		switch rest := body[i:]; {
		case len(rest) == 1:
		case rest[0] == '>' && rest[1] != '<': // a text follows
			size += sizeXML
		case rest[0] != '<':
		case rest[1] == '/':
			depth = max(depth-1, 0)
		case rest[1] == '!' || rest[1] == '?':
			size += sizeXML
			i += endOfMarkup(rest) - 1
		default:
			size += sizeXML
			depth++
			deepest = max(deepest, depth)
			tag = attributesOfXML{open: true}
		}
	}
	return size + max(tag.values, tag.words)*sizeXMLAttribute, deepest
}

// endOfMarkup returns the end of the comment, processing instruction, CDATA section or document
// type that b begins with, as in encoding/xml: quotes in them do not belong to a tag.
func endOfMarkup(b []byte) int {
	for _, m := range [][2]string{{"<!--", "-->"}, {"<![CDATA[", "]]>"}, {"<?", "?>"}} {
		if inside, ok := bytes.CutPrefix(b, []byte(m[0])); ok {
			before, _, _ := bytes.Cut(inside, []byte(m[1]))
			return min(len(m[0])+len(before)+len(m[1])-1, len(b))
		}
	}
	quote, depth := byte(0), 0
	for i := 1; i < len(b); i++ {
		switch c := b[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case bytes.HasPrefix(b[i:], []byte("<!--")):
			i += endOfMarkup(b[i:])
		case c == '<':
			depth++
		case c == '>' && depth == 0:
			return i
		case c == '>':
			depth--
		}
	}
	return len(b)
}

// attributesOfXML counts the attributes of an open tag: those with a value, and words outside
// values, since an attribute may lack a value.
type attributesOfXML struct {
	open          bool
	quote         byte
	space         bool
	values, words int
}

// read reads the next byte of the tag. It returns false if the tag ends there.
func (t *attributesOfXML) read(c byte) bool {
	switch {
	case t.quote != 0:
		if c == t.quote {
			t.quote = 0
		}
		return true
	case c == '>':
		t.open = false
		return false
	case c == '"' || c == '\'':
		t.quote = c
	case c == '=':
		t.values++
	case c > ' ' && t.space:
		t.words++
	}
	t.space = c <= ' '
	return true
}

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

// XML returns the tree of a document that is XML. Of one that is broken, it is what
// can be read of it, and Broken says so.
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

// Broken says what is wrong with a document that was read all the same, "" if
// nothing is known: only XML, NDJSON and CSV whose values were requested are checked.
func (d *Document) Broken() string { return d.broken }

func parseXML(body []byte) (root *xmlquery.Node, err error) {
	switch {
	case len(body) > MaxData:
		return nil, fmt.Errorf("%w: it has %d bytes, at most %d are read", ErrTooBig, len(body), MaxData)
	case sizeOfXML(body) > MaxTree:
		return nil, errTree("its tree of XML")
	}
	if err := shallow(body); err != nil {
		return nil, err
	}
	defer func() { // the library panics on some prefixes that are not declared
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

// sizeOfXML returns what a tree takes, at most: XML has nothing that makes more of
// it than there is.
func sizeOfXML(body []byte) int {
	size := len(body)
	var tag attributesOfXML
	for i, c := range body {
		if tag.open {
			if tag.read(c) {
				continue
			}
			size += max(tag.values, tag.words) * sizeXMLAttribute
		}
		switch next := i + 1; {
		case next == len(body):
		case c == '<' && body[next] != '/':
			size += sizeXML
			tag = attributesOfXML{open: body[next] != '!' && body[next] != '?'}
		case c == '>' && body[next] != '<': // a text comes
			size += sizeXML
		}
	}
	return size + max(tag.values, tag.words)*sizeXMLAttribute
}

// attributesOfXML counts the attributes of a tag that is open: those with a value, and
// the words outside of values, since an attribute may lack one.
type attributesOfXML struct {
	open          bool
	quote         byte
	space         bool
	values, words int
}

// read takes the next byte of the tag; false says that it ends there.
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

// shallow refuses XML that may be more than MaxDepth deep: the library goes
// through it by recursion. Tags in comments count too, which hurts nobody.
func shallow(body []byte) error {
	depth := 0
	for i := 0; i+1 < len(body); i++ {
		if body[i] == '/' && body[i+1] == '>' {
			depth--
			continue
		}
		if body[i] != '<' {
			continue
		}
		switch body[i+1] {
		case '/':
			depth--
		case '!', '?':
		default:
			depth++
		}
		if depth > MaxDepth {
			return fmt.Errorf("%w: its elements are more than %d deep", ErrTooBig, MaxDepth)
		}
		depth = max(depth, 0)
	}
	return nil
}

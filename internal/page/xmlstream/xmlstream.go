// Package xmlstream reads the elements of malformed XML, as it occurs in sitemaps and feeds: an
// invalid byte, a control character, "--" in a comment, an unknown or wrong encoding, XML 1.1, a
// bare "&" or "<", a missing or stray end tag. None of these ends the document; each is counted, so
// that the caller can judge the document.
//
// It returns the tokens of encoding/xml, with names in lower case, namespaces resolved, and an end
// for each start. It skips elements nested more than a hundred deep, and attributes beyond 256. The
// tokenizer of golang.org/x/net/html finds the tags; it never fails and takes linear time. A tag, a
// text or a comment of more than 4 MiB ends the document. Comments, processing instructions and
// document types are omitted.
package xmlstream

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"seine/internal/page/charset"
)

// Decoder reads tokens.
type Decoder struct {
	html    *html.Tokenizer
	queue   []xml.Token // to be returned before more is read
	open    []element
	flat    []string // names of elements that do not nest
	repairs int
}

// element is an open element, with the namespaces that it declares, by prefix.
type element struct {
	name   xml.Name
	tag    string // including its prefix
	spaces map[string]string
}

// NewDecoder returns a decoder of a body; contentType is its response's, or "". An element named in
// flat cannot be inside another of the same name: its start ends the open one, whose end tag is
// missing.
func NewDecoder(body []byte, contentType string, flat ...string) *Decoder {
	d := &Decoder{html: html.NewTokenizer(bytes.NewReader(text(body, contentType))), flat: flat}
	d.html.AllowCDATA(true)
	d.html.SetMaxBuf(maxToken)
	return d
}

// maxToken bounds a tag, a text or a comment, in bytes: the tokenizer holds it, and all of its
// attributes.
const maxToken = 4 << 20

// text returns the body in UTF-8. It keeps the invalid bytes of a body that is declared as UTF-8:
// the server knows a URL by them. A declared encoding in which the body has no tag, although the
// bytes have one, is wrong and ignored.
func text(body []byte, contentType string) []byte {
	decoded, encoding := charset.DecodeXML(body, contentType)
	if encoding == charset.UTF8 {
		return bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))
	}
	if !bytes.ContainsRune(decoded, '<') && bytes.IndexByte(body, '<') >= 0 {
		return body
	}
	return decoded
}

// maxDepth bounds the nesting of elements. Deeper ones are skipped, so that the search for the
// start of an end tag is short.
const maxDepth = 100

// maxAttrs is the number of attributes of an element that are read.
const maxAttrs = 256

// MaxJunk is the number of elements that may precede the root that a reader expects: programs print
// warnings there.
const MaxJunk = 32

// Repairs returns the number of malformed places so far.
func (d *Decoder) Repairs() int { return d.repairs }

// ErrCut is returned if the document ends within an element.
var ErrCut = errors.New("it ends inside an element")

// Token returns the next xml.StartElement, xml.EndElement or xml.CharData. At the end it returns
// io.EOF, or ErrCut if elements are open. Text may come in several parts.
func (d *Decoder) Token() (xml.Token, error) {
	for len(d.queue) == 0 {
		switch d.html.Next() {
		case html.ErrorToken:
			if err := d.html.Err(); errors.Is(err, html.ErrBufferExceeded) {
				return nil, fmt.Errorf("a tag, text or comment has more than %d MiB", maxToken>>20)
			} else if !errors.Is(err, io.EOF) {
				return nil, err
			}
			if len(d.open) > 0 {
				return nil, ErrCut
			}
			return nil, io.EOF
		case html.TextToken:
			if text := d.text(d.html.Raw()); len(text) > 0 {
				return xml.CharData(text), nil
			}
		case html.StartTagToken:
			d.html.NextIsNotRawText() // a title in XML has markup
			d.start()
		case html.SelfClosingTagToken:
			d.html.NextIsNotRawText()
			if d.start() {
				d.end(len(d.open) - 1)
			}
		case html.EndTagToken:
			name, _ := d.html.TagName()
			d.endTag(string(name))
		}
	}
	t := d.queue[0]
	d.queue = d.queue[1:]
	return t, nil
}

// start opens an element, unless it is nested too deep.
func (d *Decoder) start() bool {
	name, more := d.html.TagName()
	e := element{tag: string(name)}
	var attrs []xml.Attr
	for more {
		var key, value []byte
		key, value, more = d.html.TagAttr()
		if len(attrs) == maxAttrs {
			d.repairs++
			break
		}
		a := xml.Attr{Name: split(string(key)), Value: string(d.clean(value))}
		attrs = append(attrs, a)
		switch {
		case a.Name.Space == "xmlns":
			e.declare(a.Name.Local, a.Value)
		case a.Name.Space == "" && a.Name.Local == "xmlns":
			e.declare("", a.Value)
		}
	}
	if slices.Contains(d.flat, e.tag) {
		if i := d.find(e.tag); i >= 0 {
			d.repairs++
			d.end(i)
		}
	}
	if len(d.open) == maxDepth {
		d.repairs++
		return false
	}
	d.open = append(d.open, e)
	last := &d.open[len(d.open)-1]
	last.name = d.resolve(split(e.tag))
	d.queue = append(d.queue, xml.StartElement{Name: last.name, Attr: attrs})
	return true
}

func (e *element) declare(prefix, space string) {
	if e.spaces == nil {
		e.spaces = make(map[string]string)
	}
	e.spaces[prefix] = space
}

func split(tag string) xml.Name {
	if prefix, local, ok := strings.Cut(tag, ":"); ok && prefix != "" && local != "" {
		return xml.Name{Space: prefix, Local: local}
	}
	return xml.Name{Local: tag}
}

// resolve replaces the prefix of a name by its namespace. An undeclared prefix stays.
func (d *Decoder) resolve(name xml.Name) xml.Name {
	for _, e := range slices.Backward(d.open) {
		if space, ok := e.spaces[name.Space]; ok {
			name.Space = space
			break
		}
	}
	return name
}

// find returns the innermost open element with a tag, or -1.
func (d *Decoder) find(tag string) int {
	for i, e := range slices.Backward(d.open) {
		if e.tag == tag {
			return i
		}
	}
	return -1
}

// endTag ends the innermost element with this tag, and those within it. It skips a stray end tag.
func (d *Decoder) endTag(tag string) {
	i := d.find(tag)
	if i != len(d.open)-1 || i < 0 {
		d.repairs++
	}
	if i >= 0 {
		d.end(i)
	}
}

// end ends the open elements from the i-th on.
func (d *Decoder) end(i int) {
	for _, e := range slices.Backward(d.open[i:]) {
		d.queue = append(d.queue, xml.EndElement{Name: e.name})
	}
	d.open = d.open[:i]
}

package xmlstream

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"seine/internal/base/lazyregexp"
)

// Mended returns text as XML that a strict parser accepts, for documents that such a parser
// rejects. It keeps elements and attributes as written, adds missing end tags, and replaces or
// drops invalid references and characters. It drops comments, processing instructions and document
// types. It also returns the number of repaired places. text must be UTF-8.
func Mended(text []byte) (mended []byte, repairs int, err error) {
	m := &mender{Decoder: Decoder{html: html.NewTokenizer(bytes.NewReader(text))}}
	m.html.AllowCDATA(true)
	m.html.SetMaxBuf(maxToken)
	for kind := m.html.Next(); kind != html.ErrorToken; kind = m.html.Next() {
		m.html.NextIsNotRawText() // a title in XML has markup
		m.token(kind, m.html.Raw())
	}
	if err := m.html.Err(); err == html.ErrBufferExceeded { //nolint:errorlint // as the tokenizer documents it
		return nil, m.repairs, fmt.Errorf("a tag, text or comment has more than %d MiB", maxToken>>20)
	}
	m.repairs += len(m.within)
	m.close(0)
	return m.out.Bytes(), m.repairs, nil
}

// mender rewrites a document.
type mender struct {
	Decoder
	out    bytes.Buffer
	within []string // names of the open elements, as written
}

// Patterns for the parts of a tag.
var (
	nameOfXML      = lazyregexp.New(`^[\pL_][\pL\pN_.\-]*(:[\pL_][\pL\pN_.\-]*)?$`)
	startOfXML     = lazyregexp.New(`^</?([^\s/>]+)`)
	attributeOfXML = lazyregexp.New(`([\pL_][\pL\pN_.\-]*(?::[\pL_][\pL\pN_.\-]*)?)\s*=\s*(?:"([^"]*)"|'([^']*)')`)
)

func (m *mender) token(kind html.TokenType, raw []byte) {
	switch kind {
	case html.TextToken:
		escape(&m.out, m.text(raw))
	case html.StartTagToken, html.SelfClosingTagToken:
		name := startOfXML().FindSubmatch(raw)
		if name == nil || !nameOfXML().Match(name[1]) {
			m.repairs++
			return
		}
		m.start(string(name[1]), raw[len(name[0]):], kind == html.SelfClosingTagToken)
	case html.EndTagToken:
		name := startOfXML().FindSubmatch(raw)
		i := -1
		if name != nil {
			i = lastIndex(m.within, string(name[1]))
		}
		if i < 0 || i < len(m.within)-1 {
			m.repairs++
		}
		if i >= 0 {
			m.close(i)
		}
	default: // not an element
	}
}

func lastIndex(list []string, s string) int {
	for i, e := range slices.Backward(list) {
		if e == s {
			return i
		}
	}
	return -1
}

// maxMended bounds the nesting of elements. Deeper ones are dropped.
const maxMended = 1000

func (m *mender) start(name string, attributes []byte, ends bool) {
	if len(m.within) == maxMended {
		m.repairs++
		return
	}
	m.out.WriteString("<" + name)
	var known []string
	for _, a := range attributeOfXML().FindAllSubmatch(attributes, 2*maxAttrs) {
		if key := string(a[1]); !slices.Contains(known, key) && len(known) < maxAttrs {
			known = append(known, key)
			m.out.WriteString(" " + key + `="`)
			escape(&m.out, m.text(slices.Concat(a[2], a[3])))
			m.out.WriteByte('"')
		}
	}
	if ends {
		m.out.WriteString("/>")
		return
	}
	m.out.WriteByte('>')
	m.within = append(m.within, name)
}

// close ends the open elements from the i-th on.
func (m *mender) close(i int) {
	for _, name := range slices.Backward(m.within[i:]) {
		m.out.WriteString("</" + name + ">")
	}
	m.within = m.within[:i]
}

var escapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "\r", "&#13;")

func escape(to *bytes.Buffer, text []byte) {
	_, _ = escapes.WriteString(to, string(text))
}

package htmlpage

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
)

const (
	nameUTF8    = "utf-8"
	nameUTF16BE = "utf-16be"
	nameUTF16LE = "utf-16le"
	nameDefault = "windows-1252"

	// prescanLength is how far into the page a meta charset is looked for
	// (section 13.2.3.3).
	prescanLength = 1024
)

// decode returns the page as valid UTF-8 and the name of the encoding it was
// in. A page that is valid UTF-8 already comes back as it is, not copied.
//
// The encoding is determined as in section 13.2.3.2: byte order mark, header,
// meta element. If none says, a page that is valid UTF-8 is UTF-8 and any other
// is windows-1252. Bytes that mean nothing in the encoding become U+FFFD.
func decode(body []byte, contentType string) ([]byte, string, error) {
	body, name := cutBOM(body)
	if name == "" {
		name = labelled(charsetParameter([]byte(contentType)))
	}
	if name == "" {
		name = prescan(body[:min(len(body), prescanLength)])
	}
	valid := utf8.Valid(body)
	if name == "" {
		name = guess(body, valid)
	}
	if valid && name == nameUTF8 {
		return body, name, nil
	}
	text, err := toUTF8(body, name)
	if err != nil {
		return nil, name, fmt.Errorf("decode page as %s: %w", name, err)
	}
	return text, name, nil
}

func cutBOM(body []byte) ([]byte, string) {
	for _, b := range [...]struct{ mark, name string }{
		{"\xef\xbb\xbf", nameUTF8}, {"\xfe\xff", nameUTF16BE}, {"\xff\xfe", nameUTF16LE},
	} {
		if bytes.HasPrefix(body, []byte(b.mark)) {
			return body[len(b.mark):], b.name
		}
	}
	return body, ""
}

// guess names the encoding of a page that does not say. A fetch cut short in
// the middle of a character does not count against UTF-8, if other characters
// speak for it: a lone byte at the end may as well be the "é" of "café".
func guess(body []byte, valid bool) string {
	if valid {
		return nameUTF8
	}
	if cut := cutPartialRune(body); utf8.Valid(cut) && !isASCII(cut) {
		return nameUTF8
	}
	return nameDefault
}

// cutPartialRune drops an unfinished encoding of a rune from the end of b.
func cutPartialRune(b []byte) []byte {
	for i := 1; i < utf8.UTFMax && i <= len(b); i++ {
		tail := b[len(b)-i:]
		if utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				break
			}
			return b[:len(b)-i]
		}
	}
	return b
}

func toUTF8(body []byte, name string) ([]byte, error) {
	e, err := htmlindex.Get(name)
	if err != nil {
		return nil, err
	}
	if _, single := e.(*charmap.Charmap); single && isASCII(body) {
		return body, nil // every single-byte encoding of the index extends ASCII
	}
	return e.NewDecoder().Bytes(body)
}

func isASCII(b []byte) bool {
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// maxLabel bounds what is looked up; the longest label in the index has 19
// bytes (cseucpkdfmtjapanese).
const maxLabel = 32

// labelled returns the name of the encoding a label stands for (Encoding
// standard section 4.2), or "" if it stands for none.
func labelled(label []byte) string {
	if is(label, nameUTF8) {
		return nameUTF8
	}
	if len(label) == 0 || len(label) > maxLabel {
		return ""
	}
	e, err := htmlindex.Get(string(label))
	if err != nil || e == nil {
		return ""
	}
	name, err := htmlindex.Name(e)
	if err != nil {
		return ""
	}
	return name
}

// charsetParameter extracts the value of "charset=" from a Content-Type header
// or a meta element's content ("extracting a character encoding from a meta
// element", section 2.4). An unclosed quote means there is none.
func charsetParameter(b []byte) []byte {
	const key = "charset"
	for i := 0; i+len(key) <= len(b); i++ {
		if !hasPrefixFold(b[i:], key) {
			continue
		}
		i = skip(b, i+len(key), isSpace)
		if i < len(b) && b[i] == '=' {
			return parameterValue(b[skip(b, i+1, isSpace):])
		}
		i--
	}
	return nil
}

func parameterValue(b []byte) []byte {
	if len(b) > 0 && (b[0] == '"' || b[0] == '\'') {
		end := bytes.IndexByte(b[1:], b[0])
		if end < 0 {
			return nil
		}
		return trimSpace(b[1 : 1+end])
	}
	end := 0
	for end < len(b) && b[end] != ';' && !has(b[end], isSpace) {
		end++
	}
	return b[:end]
}

// prescan looks for a meta element that names the encoding (section 13.2.3.3).
func prescan(head []byte) string {
	if !containsFold(head, "charset") {
		return ""
	}
	var t tokenizer
	t.reset(head)
	for kind := t.next(); kind != tokenEnd; kind = t.next() {
		if kind != tokenStart || !is(t.name, "meta") {
			continue
		}
		if name := metaCharset(&t); name != "" {
			return name
		}
	}
	return ""
}

func containsFold(b []byte, lower string) bool {
	for i := range b {
		if hasPrefixFold(b[i:], lower) {
			return true
		}
	}
	return false
}

// metaCharset returns the encoding the current meta element declares. One that
// is not a superset of ASCII cannot be what the declaration was just read in.
func metaCharset(t *tokenizer) string {
	label, ok := t.attr("charset")
	if !ok {
		if equiv, _ := t.attr("http-equiv"); !is(equiv, "content-type") {
			return ""
		}
		content, _ := t.attr("content")
		label = charsetParameter(content)
	}
	switch name := labelled(trimSpace(label)); name {
	case nameUTF16BE, nameUTF16LE:
		return nameUTF8
	case "x-user-defined":
		return nameDefault
	default:
		return name
	}
}

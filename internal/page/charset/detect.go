package charset

import (
	"bytes"
	"unicode/utf8"
)

const (
	// prescanLength is the number of bytes of a page that are searched for a declaration (section
	// 13.2.3.2).
	prescanLength = 1024

	// lateLength is the number of bytes searched in a page without a declaration there. It bounds
	// the second pass; a longer head consists of scripts.
	lateLength = 64 << 10
)

// Decode returns an HTML page as valid UTF-8, and its encoding, as described in the package
// comment. contentType is the value of its header, or empty.
func Decode(body []byte, contentType string) ([]byte, Encoding) {
	body, e := cutBOM(body)
	if e == (Encoding{}) {
		e = fromHeader(contentType)
	}
	if e == (Encoding{}) {
		e = prescan(body[:min(len(body), prescanLength)], false)
	}
	if e != (Encoding{}) {
		return e.toUTF8(body)
	}
	return undeclared(body, func() Encoding {
		return prescan(body[:min(len(body), lateLength)], true)
	})
}

// DecodeText is Decode for text that cannot declare an encoding: plain text, CSV, JSON and the
// like.
func DecodeText(body []byte, contentType string) ([]byte, Encoding) {
	body, e := cutBOM(body)
	if e == (Encoding{}) {
		e = fromHeader(contentType)
	}
	if e != (Encoding{}) {
		return e.toUTF8(body)
	}
	return undeclared(body, nil)
}

// DecodeXML is Decode for an XML document: byte order mark, Content-Type, XML declaration,
// otherwise UTF-8 (RFC 7303 section 3.2, XML 1.0 section 4.3.3 and appendix F). Meta elements have
// no effect. The declaration stays in the text.
//
// A document that declares nothing and is not UTF-8 is not XML. Some feeds are like that; they are
// read like any text.
func DecodeXML(body []byte, contentType string) ([]byte, Encoding) {
	body, e := cutBOM(body)
	if e == (Encoding{}) {
		e = fromHeader(contentType)
	}
	if e == (Encoding{}) {
		e = fromXMLDeclaration(body)
	}
	if e != (Encoding{}) {
		return e.toUTF8(body)
	}
	return undeclared(body, nil)
}

// undeclared decodes a document that does not declare its encoding. late, if not nil, is the slower
// search for a declaration.
func undeclared(body []byte, late func() Encoding) ([]byte, Encoding) {
	if e := guessUTF16(body); e != (Encoding{}) {
		return e.toUTF8(body)
	}
	if isASCII(body) {
		if isISO2022JP(body) {
			return iso2022JP.toUTF8(body)
		}
		return body, UTF8
	}
	if late != nil {
		if e := late(); e != (Encoding{}) {
			return e.toUTF8(body)
		}
	}
	if mostlyUTF8(body) {
		return UTF8.toUTF8(body)
	}
	return legacy(body).toUTF8(body)
}

// cutBOM removes the byte order mark, which takes precedence over any declaration (Encoding
// standard section 6, "BOM sniff").
func cutBOM(body []byte) ([]byte, Encoding) {
	switch {
	case bytes.HasPrefix(body, []byte("\xef\xbb\xbf")):
		return body[3:], UTF8
	case bytes.HasPrefix(body, []byte("\xfe\xff")):
		return body[2:], UTF16BE
	case bytes.HasPrefix(body, []byte("\xff\xfe")):
		return body[2:], UTF16LE
	}
	return body, Encoding{}
}

// minUTF16 is the minimum length, in bytes, of a text that is recognised as UTF-16 by its zero
// bytes. Shorter texts with a few of them may be something else.
const minUTF16 = 16

// guessUTF16 recognises ASCII characters in UTF-16 without a byte order mark.
func guessUTF16(body []byte) Encoding {
	head := body[:min(len(body), prescanLength)]
	if len(head) < minUTF16 || head[0] != 0 && head[1] != 0 {
		return Encoding{}
	}
	zero := 0 // position of the zero byte in each pair
	if head[0] != 0 {
		zero = 1
	}
	for i := 0; i+1 < len(head); i += 2 {
		if c := head[i+1-zero]; head[i+zero] != 0 || c == 0 || c >= utf8.RuneSelf {
			return Encoding{}
		}
	}
	if zero == 0 {
		return UTF16BE
	}
	return UTF16LE
}

func isASCII(b []byte) bool {
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

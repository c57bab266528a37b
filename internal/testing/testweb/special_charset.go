package testweb

import (
	"encoding/binary"
	"net/http"
	"unicode/utf16"
)

// CharsetText is the title and body text of /special/charset/latin1, utf16 and wrong;
// CharsetJapanese that of shift_jis.
const (
	CharsetText     = "Caf\u00e9 d\u00e9j\u00e0 vu"
	CharsetJapanese = "\u65e5\u672c\u8a9e"
)

// shiftJIS is CharsetJapanese in Shift_JIS.
const shiftJIS = "\x93\xfa\x96\x7b\x8c\xea"

// specialCharset serves a page in an encoding that is declared in one of several ways, or wrongly.
func (s specialAnswers) specialCharset(rw http.ResponseWriter, r *http.Request, name string) {
	var contentType, body string
	switch name {
	case "latin1": // declared by the header
		contentType, body = "text/html; charset=iso-8859-1", latin1(charsetPage("", CharsetText))
	case "utf16": // declared only by the byte order mark
		contentType, body = "text/html", littleEndian("\ufeff"+charsetPage("", CharsetText))
	case "shift_jis": // declared by a meta element
		contentType, body = "text/html", charsetPage(`<meta charset="shift_jis">`, shiftJIS)
	case "wrong": // the header declares UTF-8, falsely
		contentType, body = "text/html; charset=utf-8", latin1(charsetPage("", CharsetText))
	case "invalid": // unknown encoding, and not valid UTF-8 either
		contentType, body = "text/html; charset=klingon-8", charsetPage(`<meta charset="">`, "caf\xc3 \xff\xfe\xed\xa0\x80")
	default:
		notFound(rw)
		return
	}
	send(rw, r, []string{contentType}, []byte(body))
}

func charsetPage(meta, text string) string {
	return "<!DOCTYPE html>\n<html><head>" + meta + "<title>" + text + "</title></head>\n<body>\n<p>" + text +
		"</p>\n<p><a href=\"" + specialPrefix + "\">Special</a></p>\n</body></html>\n"
}

// latin1 encodes text of U+0000 to U+00FF in ISO-8859-1.
func latin1(text string) string {
	var b []byte
	for _, c := range text {
		b = append(b, byte(c))
	}
	return string(b)
}

func littleEndian(text string) string {
	var b []byte
	for _, unit := range utf16.Encode([]rune(text)) {
		b = binary.LittleEndian.AppendUint16(b, unit)
	}
	return string(b)
}

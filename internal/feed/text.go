package feed

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"
)

// plain returns the text of a title, without markup and with single spaces: titles
// have HTML in them, whether their format allows it or not.
func plain(s string) string {
	if strings.ContainsAny(s, "<&") {
		s = strip(s)
	}
	return strings.Join(strings.Fields(s), " ")
}

// strip drops tags and decodes references.
func strip(s string) string {
	var b strings.Builder
	z := html.NewTokenizer(strings.NewReader(s))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return b.String()
		case html.TextToken:
			b.Write(z.Text())
		case html.StartTagToken, html.EndTagToken, html.SelfClosingTagToken:
			if name, _ := z.TagName(); string(name) == "br" || string(name) == "p" || string(name) == "div" {
				b.WriteByte(' ')
			}
		}
	}
}

// clean replaces what no XML may hold and its reader would stop at (XML 1.0, section
// 2.2), by spaces. A body without any comes back as it is.
func clean(body []byte) []byte {
	var out []byte
	for i, c := range body {
		bad := c < 0x20 && c != '\t' && c != '\n' && c != '\r' || c == 0xef && noncharacter(body[i:])
		if bad && out == nil {
			out = bytes.Clone(body)
		}
		if bad && c < 0x20 {
			out[i] = ' '
		} else if bad {
			copy(out[i:], "   ")
		}
	}
	if out == nil {
		return body
	}
	return out
}

// noncharacter says that b begins with U+FFFE or U+FFFF.
func noncharacter(b []byte) bool {
	return len(b) > 2 && b[1] == 0xbf && (b[2] == 0xbe || b[2] == 0xbf)
}

package feed

import (
	"strings"

	"golang.org/x/net/html"
)

// plain returns the text of a title, without markup and with single spaces: titles contain HTML,
// whether their format allows it or not.
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
			if name, _ := z.TagName(); isApart(string(name)) {
				b.WriteByte(' ')
			}
		}
	}
}

// isApart reports whether an element separates words.
func isApart(name string) bool { return name == "br" || name == "p" || name == "div" }

// valid returns a text with invalid UTF-8 replaced by U+FFFD.
func valid(s string) string { return strings.ToValidUTF8(s, "\ufffd") }

package htmlpage

import (
	"bytes"

	"seine/internal/base/ascii"
)

// element is the effect of an element on the scan.
type element uint8

const (
	elemInline element = iota // no effect on the text around it
	elemBlock                 // on a separate line
	elemCell                  // separated by a space
	elemAnchor
	elemArea
	elemBase
	elemForeignObject
	elemForm // on a separate line
	elemFrame
	elemHeading // on a separate line
	elemHTML
	elemIframe
	elemImage
	elemLink
	elemMeta
	elemNoScript
	elemPlaintext
	elemRuby
	elemReading      // of ruby text
	elemReadingParen // around readings
	elemScript
	elemSource
	elemSVG
	elemMath
	elemTemplate
	elemTitle
	elemXMP
	elemNoEmbed
	elemStyle
	elemTextarea
)

// lowered returns a tag name in lower case. Most names already are.
func lowered(name []byte) []byte {
	for i, c := range name {
		if c >= 'A' && c <= 'Z' {
			lower := bytes.Clone(name)
			for ; i < len(lower); i++ {
				lower[i] = ascii.Lower(lower[i])
			}
			return lower
		}
	}
	return name
}

// lookup classifies a tag name of any case. The blocks are the elements whose default style is
// display: block, list-item or table-row (section 15.3), and br and option, which are shown as
// lines.
func lookup(name []byte) element {
	switch string(lowered(name)) {
	case "p", "div", "br", "li", "tr", "ul", "ol",
		"dl", "dt", "dd", "table", "thead", "tbody", "tfoot", "caption", "pre", "hr",
		"section", "article", "header", "footer", "nav", "main", "aside", "address",
		"blockquote", "center", "details", "dialog", "dir", "fieldset", "figcaption",
		"figure", "hgroup", "legend", "listing", "menu", "search", "summary",
		"optgroup", "option", "body", "head":
		return elemBlock
	case "td", "th", "button", "select", "input":
		return elemCell
	case "a":
		return elemAnchor
	case "area":
		return elemArea
	case "base":
		return elemBase
	case "foreignobject":
		return elemForeignObject
	case "form":
		return elemForm
	case "frame":
		return elemFrame
	case "h1", "h2", "h3", "h4", "h5", "h6":
		return elemHeading
	case "html":
		return elemHTML
	case "iframe":
		return elemIframe
	case "img":
		return elemImage
	case "link":
		return elemLink
	case "meta":
		return elemMeta
	case "noembed":
		return elemNoEmbed
	case "noframes", "noscript":
		return elemNoScript
	case "plaintext":
		return elemPlaintext
	case "rp":
		return elemReadingParen
	case "rt":
		return elemReading
	case "rb", "ruby":
		return elemRuby
	case "script":
		return elemScript
	case "source":
		return elemSource
	case "style":
		return elemStyle
	case "svg":
		return elemSVG
	case "math":
		return elemMath
	case "template":
		return elemTemplate
	case "textarea":
		return elemTextarea
	case "title":
		return elemTitle
	case "xmp":
		return elemXMP
	}
	return elemInline
}

// breaksOut reports whether an element other than a block ends open foreign content (HTML standard
// section 13.2.6.5).
func breaksOut(name []byte) bool {
	switch string(lowered(name)) {
	case "b", "big", "code", "em", "embed", "i", "img", "meta", "nobr", "ruby", "s", "small", "span", "strong", "strike", "sub", "sup", "tt", "u", "var":
		return true
	}
	return false
}

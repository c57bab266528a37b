package htmlpage

// element is what an element means to the scan.
type element uint8

const (
	elemInline element = iota // no effect on the text around it
	elemBlock                 // on a line of its own
	elemCell                  // set apart by a space
	elemAnchor
	elemArea
	elemBase
	elemForeignObject
	elemFrame
	elemHTML
	elemIframe
	elemLink
	elemMeta
	elemNoScript
	elemPlaintext
	elemScript
	elemSVG
	elemTemplate
	elemTitle
	elemXMP
	elemNoEmbed
	elemStyle
	elemTextarea
)

// longestName is the length of the longest name lookup knows.
const longestName = len("foreignobject")

// lookup classifies a tag name of any case. The blocks are the elements whose
// default style is display: block, list-item or table-row (section 15.3), and
// br and option, which show as lines.
func lookup(name []byte) element {
	var lower [longestName]byte
	if len(name) > len(lower) {
		return elemInline
	}
	for i, c := range name {
		lower[i] = lowerByte(c)
	}
	switch string(lower[:len(name)]) {
	case "p", "div", "br", "li", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol",
		"dl", "dt", "dd", "table", "thead", "tbody", "tfoot", "caption", "pre", "hr",
		"section", "article", "header", "footer", "nav", "main", "aside", "address",
		"blockquote", "center", "details", "dialog", "dir", "fieldset", "figcaption",
		"figure", "form", "hgroup", "legend", "listing", "menu", "search", "summary",
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
	case "frame":
		return elemFrame
	case "html":
		return elemHTML
	case "iframe":
		return elemIframe
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
	case "script":
		return elemScript
	case "style":
		return elemStyle
	case "svg":
		return elemSVG
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

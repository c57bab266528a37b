package charset

import (
	"bytes"

	"golang.org/x/net/html"

	"seine/internal/base/ascii"
)

// prescan looks for a declaration in the front of an HTML page: "prescan a byte
// stream to determine its encoding", section 13.2.3.2. The standard's algorithm
// takes what is in a script or a title for markup; with skipRaw it is skipped,
// for a search that goes beyond the 1,024 bytes of the standard.
func prescan(b []byte, skipRaw bool) Encoding {
	if e := utf16XML(b, "<?x"); e != (Encoding{}) {
		return e
	}
	z := html.NewTokenizer(bytes.NewReader(b))
	for {
		switch z.Next() {
		case html.ErrorToken: // a tag that the page ends in is none
			return bogoXML(b)
		case html.StartTagToken, html.SelfClosingTagToken:
			if name, more := z.TagName(); more && string(name) == "meta" {
				if e := readMeta(z); e != (Encoding{}) {
					return e
				}
			}
			if !skipRaw {
				z.NextIsNotRawText()
			}
		default:
		}
	}
}

// readMeta reads the attributes of a meta element and returns the encoding it
// declares, if it does.
func readMeta(z *html.Tokenizer) Encoding {
	var charset, content, equiv []byte // of each name the first counts
	for more := true; more; {
		var name, value []byte
		name, value, more = z.TagAttr()
		switch {
		case string(name) == "charset" && charset == nil:
			charset = bytes.Clone(value)
		case string(name) == "content" && content == nil:
			content = bytes.Clone(value)
		case string(name) == "http-equiv" && equiv == nil:
			equiv = bytes.Clone(value)
		}
	}
	switch {
	case charset != nil:
		return labelled(charset).declared()
	case ascii.Is(equiv, "content-type"):
		return fromContent(content).declared()
	}
	return Encoding{}
}

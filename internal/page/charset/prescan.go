package charset

import (
	"bytes"

	"golang.org/x/net/html"

	"seine/internal/base/ascii"
)

// prescan searches for a declaration at the start of an HTML page: "prescan a byte stream to
// determine its encoding", section 13.2.3.2. The standard's algorithm reads the content of scripts
// and titles as markup. skipRaw skips it, for a search beyond the 1,024 bytes of the standard.
func prescan(b []byte, skipRaw bool) Encoding {
	if e := utf16XML(b, "<?x"); e != (Encoding{}) {
		return e
	}
	z := html.NewTokenizer(bytes.NewReader(b))
	for {
		switch z.Next() {
		case html.ErrorToken: // an unfinished tag at the end does not count
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

// readMeta reads the attributes of a meta element and returns the encoding that it declares, or the
// zero value.
func readMeta(z *html.Tokenizer) Encoding {
	var charset, content, equiv []byte // if an attribute repeats, the first one counts
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

package article

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"seine/internal/page/dom"
)

// pageKind is the kind of a page according to its structured data.
type pageKind uint8

const (
	kindUnknown pageKind = iota
	kindProduct          // a product
	kindArticle          // one text, perhaps with comments below
	kindThread           // a discussion, or a question with answers
)

// kindsOfTypes maps names in schema.org types to kinds, the most certain first.
var kindsOfTypes = []struct {
	name string
	kind pageKind
}{
	{"DiscussionForumPosting", kindThread}, {"QAPage", kindThread}, {"Article", kindArticle}, {"BlogPosting", kindArticle},
	{`"Product"`, kindProduct}, // in JSON-LD only
}

// kindOf returns the kind that an element declares: in JSON-LD, microdata, or the property og:type.
func kindOf(n *html.Node) pageKind {
	text := dom.Attribute(n, "itemtype")
	switch {
	case n.DataAtom == atom.Script && dom.Attribute(n, "type") == "application/ld+json" && n.FirstChild != nil:
		text = n.FirstChild.Data
	case n.DataAtom == atom.Meta && dom.Attribute(n, "property") == "og:type" && dom.Attribute(n, "content") == "article":
		return kindArticle
	}
	for _, t := range kindsOfTypes {
		if text != "" && strings.Contains(text, t.name) {
			return t.kind
		}
	}
	return kindUnknown
}

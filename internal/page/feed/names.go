package feed

import (
	"encoding/xml"
	"strings"
)

// prefixes maps known namespaces to the prefixes used here, whatever prefix a feed declares.
// Namespaces are in the form of spaceOf. RSS and Atom have no prefix.
var prefixes = map[string]string{
	"":                                    "",
	"www.w3.org/2005/atom":                "",
	"purl.org/atom/ns":                    "",
	"purl.org/rss/1.0":                    "",
	"my.netscape.com/rdf/simple/0.9":      "",
	"channel.netscape.com/rdf/simple/0.9": "",
	"backend.userland.com/rss2":           "",
	"backend.userland.com/rss":            "",
	"blogs.law.harvard.edu/tech/rss":      "",
	"purl.org/dc/elements/1.1":            "dc:",
	"www.itunes.com/dtds/podcast-1.0.dtd": "itunes:",
	"www.w3.org/1999/02/22-rdf-syntax-ns": "rdf:",
	// Prefixes that feeds use without declaring them.
	"atom":   "",
	"atom10": "",
	"a10":    "",
}

// name returns the name of an element, in lower case. The prefix of an unknown namespace is the
// namespace, so that the name matches no known one, unless the feed's root is in that namespace.
func (p *parser) name(n xml.Name) string {
	local, space := strings.ToLower(n.Local), spaceOf(n.Space)
	prefix, ok := prefixes[space]
	if !ok && p.feed == nil && (local == "feed" || local == "rss") {
		p.space = space
	}
	if !ok && (space != p.space || p.space == "") {
		prefix = space + ":"
	}
	return prefix + local
}

// spaceOf returns a namespace in lower case, without its scheme and a trailing slash or "#".
func spaceOf(space string) string {
	space = strings.ToLower(strings.TrimSpace(space))
	space = strings.TrimPrefix(strings.TrimPrefix(space, "http://"), "https://")
	return strings.TrimRight(space, "/#")
}

// attr returns an attribute by its local name in lower case, or "".
func attr(t xml.StartElement, local string) string { return valid(reference(t, local)) }

// reference returns an attribute that is a URL, with its original bytes.
func reference(t xml.StartElement, local string) string {
	for _, a := range t.Attr {
		if a.Name.Local == local {
			return strings.TrimSpace(a.Value)
		}
	}
	return ""
}

// wants reports whether the text of an element is read, for a feed or an item.
func (p *parser) wants(name string) bool {
	switch name {
	case "title", "dc:title", "link":
		return true
	case "guid":
		return p.item != nil
	case "language", "dc:language", "description", "subtitle", "tagline", "itunes:summary", "dc:description":
		return p.item == nil
	}
	return false
}

package feed

import (
	"encoding/xml"
	"strings"
)

// prefixes are the prefixes of the known namespaces here, whatever prefix a feed gives
// them. Namespaces are in the form of spaceOf. RSS and Atom have no prefix.
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
	// Prefixes that a feed does not declare.
	"atom":   "",
	"atom10": "",
	"a10":    "",
}

// name returns the name of an element, in lower case. One of another namespace has
// that for its prefix, and so is like none of ours, unless the feed itself is in it.
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

// spaceOf returns a namespace in lower case, without its scheme and a slash or "#" at its end.
func spaceOf(space string) string {
	space = strings.ToLower(strings.TrimSpace(space))
	space = strings.TrimPrefix(strings.TrimPrefix(space, "http://"), "https://")
	return strings.TrimRight(space, "/#")
}

// attr returns an attribute by its local name in lower case, "" if there is none.
func attr(t xml.StartElement, local string) string { return valid(reference(t, local)) }

// reference returns an attribute that is a URL, with the bytes that it came with.
func reference(t xml.StartElement, local string) string {
	for _, a := range t.Attr {
		if a.Name.Local == local {
			return strings.TrimSpace(a.Value)
		}
	}
	return ""
}

// wants reports whether the text of an element is read: of a feed or of an item.
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

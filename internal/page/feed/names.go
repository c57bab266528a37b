package feed

import (
	"encoding/xml"
	"strings"
)

// prefixes are those of the namespaces that are read, whatever prefix a feed gives
// them. RSS and Atom have none.
var prefixes = map[string]string{
	"":                                       "",
	"http://www.w3.org/2005/Atom":            "",
	"http://purl.org/atom/ns#":               "",
	"http://purl.org/rss/1.0/":               "",
	"http://my.netscape.com/rdf/simple/0.9/": "",
	"http://channel.netscape.com/rdf/simple/0.9/": "",
	"http://backend.userland.com/rss2":            "",
	"http://backend.userland.com/rss":             "",
	"http://blogs.law.harvard.edu/tech/rss":       "",
	"http://purl.org/dc/elements/1.1/":            "dc:",
	"http://www.itunes.com/dtds/podcast-1.0.dtd":  "itunes:",
	"http://www.w3.org/1999/02/22-rdf-syntax-ns#": "rdf:",
	// Prefixes that a feed does not declare.
	"atom":   "",
	"atom10": "",
	"a10":    "",
}

// name returns the name of an element, in lower case. One of another namespace has
// that for its prefix, and so is like none of ours.
func name(n xml.Name) string {
	space := strings.TrimSpace(n.Space)
	prefix, ok := prefixes[space]
	if !ok {
		prefix, ok = prefixes[strings.ToLower(space)]
	}
	if !ok {
		prefix = space + ":"
	}
	return prefix + strings.ToLower(n.Local)
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

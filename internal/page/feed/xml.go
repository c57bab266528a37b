package feed

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"

	"seine/internal/page/xmlstream"
)

var errRoot = errors.New("it has no element rss, rdf or feed")

// parseXML reads RSS and Atom.
func parseXML(body []byte, contentType string, at urlBase) (*Feed, error) {
	p := &parser{d: xmlstream.NewDecoder(body, contentType, "item", "entry"), at: at}
	err := p.run()
	switch {
	case p.feed == nil && errors.Is(err, io.EOF):
		return nil, errRoot
	case p.feed == nil:
		return nil, err
	case errors.Is(err, io.EOF):
		err = nil
	}
	p.feed.Repairs = p.d.Repairs()
	p.feed.Link = p.ofFeed.url()
	return p.feed, err
}

// parser follows the elements of a feed.
type parser struct {
	d      *xmlstream.Decoder
	junk   int     // number of elements before the first known one
	at     urlBase // of the feed
	feed   *Feed
	atom   bool   // the feed is Atom
	space  string // namespace of the root, if it is unknown
	ofFeed links
	open   []element
	item   *Item // the current item, its links, and the depth of its element
	ofItem links
	depth  int
	value  *value // the current value
}

// element is an open element. Its name is the local name in lower case, with a prefix if it is in
// the namespace of an extension.
type element struct {
	name string
	at   urlBase
}

func (p *parser) run() error {
	for {
		t, err := p.d.Token()
		if err != nil {
			return err
		}
		switch t := t.(type) {
		case xml.StartElement:
			err = p.start(t)
		case xml.EndElement:
			p.end(t)
		case xml.CharData:
			if p.value != nil {
				p.value.text(t)
			}
		}
		if err != nil {
			return err
		}
		if p.feed != nil && len(p.feed.Items) >= MaxItems {
			p.feed.Cut = true
			return nil
		}
	}
}

func (p *parser) start(t xml.StartElement) error {
	e := element{name: p.name(t.Name), at: p.place()}
	if p.feed == nil && !p.root(e.name) {
		if p.junk++; p.junk > xmlstream.MaxJunk {
			return errRoot
		}
		return nil
	}
	if base := reference(t, "base"); base != "" {
		e.at = e.at.within(base)
	}
	parent := p.top()
	p.open = append(p.open, e)
	switch {
	case p.value != nil:
		p.value.tag(t.Name.Local)
	case len(p.open) == 1:
	case p.item == nil && (e.name == "item" || e.name == "entry"):
		p.item, p.ofItem, p.depth = &Item{}, links{}, len(p.open)
	case !p.holds(parent) || p.addLink(e, t):
	case p.wants(e.name):
		p.value = &value{name: e.name, depth: len(p.open), at: e.at, kind: strings.ToLower(attr(t, "type"))}
		p.value.permalink = !strings.EqualFold(attr(t, "ispermalink"), "false")
	}
	return nil
}

// root begins the feed, and reports whether the element is the root of one.
func (p *parser) root(name string) bool {
	switch name {
	case "rss", "rdf:rdf", "rdf":
		p.feed = &Feed{}
	case "feed":
		p.feed, p.atom = &Feed{}, true
	}
	return p.feed != nil
}

// holds reports whether the values in a parent belong to the feed or the item. An image of a
// channel has a title and a link too, and the source of an entry is another feed.
func (p *parser) holds(parent string) bool {
	switch parent {
	case "channel", "feed", "item", "entry":
		return true
	case "rss": // the channel element is missing
		return p.item == nil
	}
	return false
}

func (p *parser) end(t xml.EndElement) {
	if len(p.open) == 0 {
		return
	}
	switch {
	case p.value != nil && len(p.open) > p.value.depth:
		p.value.tag(t.Name.Local)
	case p.value != nil:
		p.assign(p.value)
		p.value = nil
	case p.item != nil && len(p.open) == p.depth:
		p.item.URL = p.ofItem.url()
		p.feed.Items = append(p.feed.Items, *p.item)
		p.item = nil
	}
	p.open = p.open[:len(p.open)-1]
}

func (p *parser) top() string {
	if len(p.open) == 0 {
		return ""
	}
	return p.open[len(p.open)-1].name
}

func (p *parser) place() urlBase {
	if len(p.open) == 0 {
		return p.at
	}
	return p.open[len(p.open)-1].at
}

// title returns the title field of the current item or the feed.
func (p *parser) title() *string {
	if p.item != nil {
		return &p.item.Title
	}
	return &p.feed.Title
}

// pages returns the links of the current item or the feed.
func (p *parser) pages() *links {
	if p.item != nil {
		return &p.ofItem
	}
	return &p.ofFeed
}

package document

import (
	"bytes"
	"fmt"
	"io"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"seine/internal/mediatype"
)

// Bounds of a DOM. A node takes about 150 bytes, an attribute 50.
const (
	// MaxHTML is the longest page, in bytes, of which a DOM is made. The longest
	// pages of documentation, in one piece, have 10 MB.
	MaxHTML = 16 << 20
	// MaxNodes is how many nodes a DOM may have, estimated from the tags before it
	// is made. x/net/html itself refuses elements that are more than 512 deep.
	MaxNodes = 2_000_000
)

// HTML returns the DOM of a page.
func (d *Document) HTML() (*html.Node, error) {
	return d.dom.get(func() (*html.Node, error) {
		if d.Type.Class != mediatype.HTML {
			return nil, fmt.Errorf("%w: %s is not HTML", ErrForm, d.Type.Class)
		}
		body := d.Body()
		if len(body) > MaxHTML {
			return nil, fmt.Errorf("%w: it has %d bytes, a DOM is made of at most %d", ErrTooBig, len(body), MaxHTML)
		}
		if n := estimate(body); n > MaxNodes {
			return nil, fmt.Errorf("%w: its DOM would have more than %d nodes", ErrTooBig, MaxNodes)
		}
		root, err := html.ParseWithOptions(bytes.NewReader(body), html.ParseOptionEnableScripting(false))
		if err != nil {
			return nil, fmt.Errorf("build DOM: %w", err)
		}
		return root, nil
	})
}

// formatting are the elements that are opened again in each block until they are
// closed (HTML standard section 13.2.4.3).
var formatting = map[atom.Atom]bool{
	atom.A: true, atom.B: true, atom.Big: true, atom.Code: true, atom.Em: true, atom.Font: true, atom.I: true, atom.Nobr: true,
	atom.S: true, atom.Small: true, atom.Strike: true, atom.Strong: true, atom.Tt: true, atom.U: true,
}

// estimate returns at least about how many nodes a DOM has, by the tags: each
// one makes at most a few nodes, and opens again the formatting elements that
// are not closed. It stops at MaxNodes. Without it, 100 KB of unclosed
// formatting elements and paragraphs make gigabytes of nodes.
func estimate(body []byte) int {
	if bytes.Count(body, []byte{'<'}) < smallPage {
		return 0
	}
	z := html.NewTokenizer(bytes.NewReader(body))
	nodes, open := 0, 0
	for nodes <= MaxNodes {
		kind := z.Next()
		if kind == html.ErrorToken {
			if z.Err() != io.EOF { //nolint:errorlint // as the tokenizer documents it
				return MaxNodes + 1
			}
			break
		}
		nodes++
		if kind != html.StartTagToken && kind != html.EndTagToken {
			continue
		}
		name, _ := z.TagName()
		tag := atom.Lookup(name)
		switch {
		case kind == html.StartTagToken && formatting[tag]:
			open++
		case kind == html.StartTagToken:
			nodes += min(open, maxOpen)
		case formatting[tag]:
			open = max(open-1, 0)
		}
	}
	return nodes
}

const (
	// smallPage is how many tags a page may have that is not estimated: even all
	// of them opened again by each other are fewer than MaxNodes.
	smallPage = 1400
	// maxOpen is how deep elements can be.
	maxOpen = 512
)

// Attribute returns the value of an attribute, "" if there is none.
func Attribute(n *html.Node, name string) string {
	for i := range n.Attr {
		if n.Attr[i].Key == name {
			return n.Attr[i].Val
		}
	}
	return ""
}

package document

import (
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"seine/internal/page/article"
	"seine/internal/page/dom"
)

// Main returns the main content of a page, empty if it has none.
func (d *Document) Main() (article.Content, error) {
	return d.main.get(func() (article.Content, error) {
		root, err := d.Root()
		if err != nil {
			return article.Content{}, err
		}
		if d.made != nil { // a converted file has no boilerplate
			for n := range dom.Descendants(root) {
				if n.DataAtom == atom.Body {
					return article.Content{Node: n, Text: article.Text(n)}, nil
				}
			}
		}
		content, _ := d.options.Main(root)
		return content, nil
	})
}

// MainNodes returns the node of the main content, or none.
func (d *Document) MainNodes() ([]*html.Node, error) {
	content, err := d.Main()
	if content.Node == nil {
		return nil, err
	}
	return []*html.Node{content.Node}, nil
}

// Sections returns the sections of the main content.
func (d *Document) Sections() ([]*html.Node, error) {
	return d.sections.get(func() ([]*html.Node, error) {
		content, err := d.Main()
		return article.Sections(content.Node), err
	})
}

package document

import (
	"golang.org/x/net/html"

	"seine/internal/page/article"
)

// Main returns the main content of a page, empty if it has none.
func (d *Document) Main() (article.Content, error) {
	return d.main.get(func() (article.Content, error) {
		root, err := d.Root()
		if err != nil {
			return article.Content{}, err
		}
		content, _ := d.options.Main(root)
		return content, nil
	})
}

// MainNodes is the node of the main content, or none.
func (d *Document) MainNodes() ([]*html.Node, error) {
	content, err := d.Main()
	if content.Node == nil {
		return nil, err
	}
	return []*html.Node{content.Node}, nil
}

// Sections are the sections of the main content.
func (d *Document) Sections() ([]*html.Node, error) {
	return d.sections.get(func() ([]*html.Node, error) {
		content, err := d.Main()
		return article.Sections(content.Node), err
	})
}

package extract

import (
	"golang.org/x/net/html"

	"seine/pkg/crawlspec"
)

// each compiles what there is a record, or a link, of, and says of what kind the items are.
func (c *compiler) each(m *crawlspec.Each, path string) (*selector, inputKind) {
	switch {
	case m == nil:
		return nil, amongPage
	case m.From == "":
		return c.selector(m.Selector, path, amongPage)
	}
	c.needs(path+".from", "from", typeHTML)
	return &selector{from: m.From}, amongNodes
}

// selectContent yields the main content of the page, or its sections. The nodes are copies.
func (r *run) selectContent(what string, yield func(item) bool) error {
	if typeOf(r.doc) != typeHTML {
		return nil
	}
	var nodes []*html.Node
	var err error
	switch what {
	case "main":
		nodes, err = r.doc.MainNodes()
	case "sections":
		nodes, err = r.doc.Sections()
	}
	if err != nil {
		return err
	}
	for _, n := range nodes {
		if err := r.spend(1); err != nil {
			return err
		}
		if !yield(nodeItem(n)) {
			break
		}
	}
	return nil
}

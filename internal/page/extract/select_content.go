package extract

import "golang.org/x/net/html"

// selectContent yields the main content of the page, or its sections. The nodes are copies.
func (r *run) selectContent(what string, yield func(item) bool) error {
	if !r.doc.IsHTML() {
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

package extract

import (
	"fmt"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
)

func compileCSS(text string) (cascadia.SelectorGroup, error) {
	group, err := cascadia.ParseGroup(text)
	if err != nil {
		return nil, fmt.Errorf("css %q: %w", text, err)
	}
	return group, nil
}

// selectCSS yields the elements below root that match, in document order. It
// looks at one after the other, so that a field whose first element will do does
// not go through the page, and a slow selector on a large page can be ended.
func (r *run) selectCSS(root *html.Node, css cascadia.SelectorGroup, yield func(item) bool) error {
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		if err := r.spend(1); err != nil {
			return err
		}
		if css.Match(n) && !yield(nodeItem(n)) {
			return nil
		}
	}
	return nil
}

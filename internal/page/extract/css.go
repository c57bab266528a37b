package extract

import (
	"fmt"

	"golang.org/x/net/html"

	"seine/internal/page/css"
)

func compileCSS(text string) (*css.Selector, error) {
	selector, err := css.Compile(text)
	if err != nil {
		return nil, fmt.Errorf("css %q: %w", text, err)
	}
	return selector, nil
}

// selectCSS yields the elements below root that match, in document order. It
// looks at one after the other, so that a field whose first element will do does
// not go through the page. What is in template elements is no part of the page.
func (r *run) selectCSS(root *html.Node, selector *css.Selector, yield func(item) bool) error {
	matcher := r.matcher(selector)
	for n := range css.Descendants(root) {
		if err := r.spend(1); err != nil {
			return err
		}
		if n.Type != html.ElementNode {
			continue
		}
		is, err := matcher.Match(n)
		if err != nil {
			return err
		}
		if is && !yield(nodeItem(n)) {
			return nil
		}
	}
	return nil
}

// matcher returns the matcher of a selector for the page. What it learns holds for
// all items of a rule.
func (r *run) matcher(selector *css.Selector) *css.Matcher {
	m, ok := r.matchers[selector]
	if !ok {
		if r.nodes == nil {
			r.nodes = css.NewNodes()
		}
		m = selector.Matcher(r.nodes, r.spend)
		r.matchers[selector] = m
	}
	return m
}

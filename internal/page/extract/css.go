package extract

import (
	"fmt"
	"strings"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/net/html"

	"seine/internal/page/css"
)

func compileCSS(text string) (*css.Selector, error) {
	selector, err := css.Compile(text)
	if err != nil && strings.HasPrefix(text, ".") && strings.Contains(text, "[]") {
		return nil, fmt.Errorf("css %q: %w; for JSON, write {jq: %[1]q}", text, err)
	}
	if err != nil {
		return nil, fmt.Errorf("css %q: %w", text, err)
	}
	return selector, nil
}

// selectCSS yields the matching elements below root, in document order. It searches the first one
// separately, since most fields need only that.
func (r *run) selectCSS(root *html.Node, selector *css.Selector, yield func(item) bool) error {
	matcher := r.matcher(selector)
	from := &r.selection
	from.Nodes = append(from.Nodes[:0], root)
	first := from.FindMatcher(matcher.first)
	if matcher.Err() != nil || first.Length() == 0 || !yield(nodeItem(first.Nodes[0])) {
		return matcher.Err()
	}
	from.Nodes[0] = root // yield may have made a selection, too
	all := from.FindMatcher(matcher)
	if matcher.Err() != nil {
		return matcher.Err()
	}
	for _, n := range all.Nodes[1:] {
		if !yield(nodeItem(n)) {
			break
		}
	}
	return nil
}

// matcher finds all elements that match a selector, and first only the first one.
type matcher struct {
	*css.Matcher
	first goquery.Matcher
}

// matcher returns the matcher of a selector for the page. All items of a rule share its cache.
func (r *run) matcher(selector *css.Selector) *matcher {
	m, ok := r.matchers[selector]
	if !ok {
		if r.nodes == nil {
			r.nodes = css.NewNodes()
		}
		all := selector.Matcher(r.nodes, r.spend)
		m = &matcher{all, goquery.SingleMatcher(all)}
		r.matchers[selector] = m
	}
	return m
}

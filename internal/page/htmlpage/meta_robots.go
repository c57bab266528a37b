package htmlpage

import "seine/internal/fetch/robots"

// Restrict adds directives to the page's own: those of its robots meta elements (attrs.go) and of
// X-Robots-Tag (the parser's parsed_page.go). Directives only restrict, so the strictest counts.
func (p *Page) Restrict(d robots.Directives) {
	p.NoIndex = p.NoIndex || d.NoIndex
	p.NoFollow = p.NoFollow || d.NoFollow
}

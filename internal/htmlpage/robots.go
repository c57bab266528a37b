package htmlpage

// setRobots adds the directives of a robots meta element to the page's. They
// only ever restrict: of several elements the strictest counts (RFC 9309 leaves
// the element to common practice, which is this). Unknown directives, and those
// with a value, say nothing about fetching.
func (p *Page) setRobots(content []byte) {
	for {
		var directive []byte
		directive, content = nextField(content)
		switch {
		case len(directive) == 0:
			return
		case is(directive, "none"):
			p.NoIndex, p.NoFollow = true, true
		case is(directive, "noindex"):
			p.NoIndex = true
		case is(directive, "nofollow"):
			p.NoFollow = true
		}
	}
}

package crawlspec

import (
	"regexp"
	"slices"
)

// urlPatterns are compiled patterns.
type urlPatterns []*regexp.Regexp

// match reports whether a URL matches one of the patterns. It compiles them now if the spec was not
// decoded.
func (p *urlPatterns) match(patterns []string, url string) bool {
	if len(*p) != len(patterns) {
		p.compile(patterns)
	}
	return slices.ContainsFunc(*p, func(re *regexp.Regexp) bool { return re.MatchString(url) })
}

// compile compiles patterns, if there are any. Validate reports their errors.
func (p *urlPatterns) compile(patterns []string) {
	if len(patterns) > 0 {
		*p, _ = CompilePatterns(patterns)
	}
}

// Renders returns the mode for a canonical URL. In a decoded spec it is cheap: patterns are
// compiled when the spec is decoded, since each request needs its mode.
func (s *Spec) Renders(url string) RenderMode {
	if s.Render == nil {
		return RenderNever
	}
	for i := range s.Render.Modes {
		if rule := &s.Render.Modes[i]; rule.compiled.match(rule.Match, url) {
			return rule.Mode
		}
	}
	return s.Render.Mode
}

// MayRender reports whether any page may be rendered.
func (s *Spec) MayRender() bool {
	if s.Render == nil {
		return false
	}
	return s.Render.Mode != RenderNever ||
		slices.ContainsFunc(s.Render.Modes, func(r RenderRule) bool { return r.Mode != RenderNever })
}

// SetRender sets the mode of all pages to which no rule gives another; never applies to all pages.
// It replaces s.Render instead of changing it, since copies of a spec share it.
func (s *Spec) SetRender(mode RenderMode) {
	if mode == RenderNever {
		s.Render = nil
		return
	}
	r := DefaultRender()
	if s.Render != nil {
		r = *s.Render
	}
	r.Mode, s.Render = mode, &r
}

// Blocks reports whether the patterns of Block forbid a page to load a canonical URL.
func (r *Render) Blocks(url string) bool { return r.Block.compiled.match(r.Block.URLs, url) }

// Captures reports whether a script's response from a canonical URL is parsed as a separate page.
func (r *Render) Captures(url string) bool { return r.captured.match(r.Capture, url) }

// compile compiles the patterns of the rules.
func (r *Render) compile() {
	r.Block.compiled.compile(r.Block.URLs)
	r.captured.compile(r.Capture)
	for i := range r.Modes {
		r.Modes[i].compiled.compile(r.Modes[i].Match)
	}
}

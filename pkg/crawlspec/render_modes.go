package crawlspec

import (
	"regexp"
	"slices"
)

// urlPatterns are compiled patterns.
type urlPatterns []*regexp.Regexp

// match reports whether one of the patterns, which are compiled now in a spec that was not read, is that of a URL.
func (p *urlPatterns) match(patterns []string, url string) bool {
	if len(*p) != len(patterns) {
		p.compile(patterns)
	}
	return slices.ContainsFunc(*p, func(re *regexp.Regexp) bool { return re.MatchString(url) })
}

// compile compiles patterns, if there are any. What is wrong with them, Validate reports.
func (p *urlPatterns) compile(patterns []string) {
	if len(patterns) > 0 {
		*p, _ = CompilePatterns(patterns)
	}
}

// Renders returns the mode for a canonical URL. In a spec that was read it is cheap: patterns
// are compiled when a spec is read, since each request needs its mode.
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

// SetRender makes the mode that of all pages which no rule gives another; never is for them
// all. The Render that s has stays as it is, since copies of a spec share it.
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

// Blocks reports whether a page must not load a canonical URL, by the patterns of Block.
func (r *Render) Blocks(url string) bool { return r.Block.compiled.match(r.Block.URLs, url) }

// Captures reports whether what a script asks for by a canonical URL is parsed as a page of its own.
func (r *Render) Captures(url string) bool { return r.captured.match(r.Capture, url) }

// compile compiles the patterns of the rules.
func (r *Render) compile() {
	r.Block.compiled.compile(r.Block.URLs)
	r.captured.compile(r.Capture)
	for i := range r.Modes {
		r.Modes[i].compiled.compile(r.Modes[i].Match)
	}
}

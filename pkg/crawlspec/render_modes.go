package crawlspec

import (
	"regexp"
	"slices"
)

// urlPatterns are compiled patterns.
type urlPatterns []*regexp.Regexp

func (p urlPatterns) match(url string) bool {
	return slices.ContainsFunc(p, func(re *regexp.Regexp) bool { return re.MatchString(url) })
}

// Renders returns the mode for a canonical URL. In a spec that was read it is cheap: patterns
// are compiled by whoever reads a spec, since each request asks for its mode.
func (s *Spec) Renders(url string) RenderMode {
	if s.Render == nil {
		return RenderNever
	}
	for i := range s.Render.Modes {
		if rule := &s.Render.Modes[i]; rule.patterns().match(url) {
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

// compile compiles the patterns of the rules. What is wrong with them, check reports.
func (r *Render) compile() {
	for i := range r.Modes {
		r.Modes[i].compiled, _ = CompilePatterns(r.Modes[i].Match)
	}
}

// patterns are those of the rule, which are compiled now in a spec that was not read.
func (r *RenderRule) patterns() urlPatterns {
	if len(r.compiled) == len(r.Match) {
		return r.compiled
	}
	compiled, err := CompilePatterns(r.Match)
	if err != nil {
		panic(err) // the spec is valid
	}
	return compiled
}

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
// are compiled when a spec is read, since each request needs its mode.
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

// Blocks reports whether a page must not load a canonical URL, by the patterns of Block.
func (r *Render) Blocks(url string) bool {
	if len(r.Block.compiled) != len(r.Block.URLs) { // of a spec that was not read
		r.Block.compiled = compiledPatterns(r.Block.URLs)
	}
	return r.Block.compiled.match(url)
}

// Captures reports whether what a script asks for by a canonical URL is parsed as a page of its own.
func (r *Render) Captures(url string) bool {
	if len(r.captured) != len(r.Capture) { // of a spec that was not read
		r.captured = compiledPatterns(r.Capture)
	}
	return r.captured.match(url)
}

// compile compiles the patterns of the rules. What is wrong with them, check reports.
func (r *Render) compile() {
	r.Block.compiled, r.captured = compiledPatterns(r.Block.URLs), compiledPatterns(r.Capture)
	for i := range r.Modes {
		r.Modes[i].compiled = compiledPatterns(r.Modes[i].Match)
	}
}

// compiledPatterns are nil if there are none, or one of them is wrong.
func compiledPatterns(patterns []string) urlPatterns {
	if len(patterns) == 0 {
		return nil
	}
	compiled, _ := CompilePatterns(patterns)
	return compiled
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

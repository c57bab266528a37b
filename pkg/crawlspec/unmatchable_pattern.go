package crawlspec

import (
	"regexp"
	"regexp/syntax"
	"slices"
)

// urlStarts are the beginnings of a crawl's URLs, which are canonical.
var urlStarts = []string{"http://", "https://"}

// matchesNoURL reports whether no URL can match a pattern, because the pattern's beginning excludes
// all urlStarts. It returns true only if that is certain.
func matchesNoURL(pattern *regexp.Regexp) bool {
	re, err := syntax.Parse(pattern.String(), syntax.Perl)
	if err != nil {
		return false
	}
	prog, err := syntax.Compile(re.Simplify())
	if err != nil {
		return false
	}
	s := starter{prog}
	return !s.anywhere() && !slices.ContainsFunc(urlStarts, s.mayMatch)
}

// starter follows a regular expression from the start of a text.
type starter struct{ prog *syntax.Prog }

// anywhere reports whether a match may begin after the start of a text.
func (s starter) anywhere() bool {
	const behind = syntax.EmptyEndLine | syntax.EmptyEndText | syntax.EmptyWordBoundary | syntax.EmptyNoWordBoundary
	next, matched := s.reach([]uint32{uint32(s.prog.Start)}, behind)
	return matched || len(next) > 0
}

// mayMatch reports whether a text with that start may match from its beginning.
func (s starter) mayMatch(start string) bool {
	at := []uint32{uint32(s.prog.Start)}
	before := rune(-1)
	for _, r := range start {
		waiting, matched := s.reach(at, syntax.EmptyOpContext(before, r))
		if matched {
			return true
		}
		at = at[:0]
		for _, pc := range waiting {
			if i := &s.prog.Inst[pc]; i.MatchRune(r) {
				at = append(at, i.Out)
			}
		}
		before = r
	}
	return len(at) > 0
}

// reach returns the instructions that wait for a character, among those that are reachable from
// from under the given empty-width conditions, and whether one of the reachable ones ends a match.
func (s starter) reach(from []uint32, empty syntax.EmptyOp) (waiting []uint32, matched bool) {
	seen := make([]bool, len(s.prog.Inst))
	for left := slices.Clone(from); len(left) > 0; {
		pc := left[len(left)-1]
		left = left[:len(left)-1]
		if seen[pc] {
			continue
		}
		seen[pc] = true
		switch i := &s.prog.Inst[pc]; i.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			left = append(left, i.Out, i.Arg)
		case syntax.InstCapture, syntax.InstNop:
			left = append(left, i.Out)
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(i.Arg)&^empty == 0 {
				left = append(left, i.Out)
			}
		case syntax.InstMatch:
			matched = true
		case syntax.InstFail:
		default:
			waiting = append(waiting, pc)
		}
	}
	return waiting, matched
}

package crawlspec

import (
	"regexp"
	"regexp/syntax"
	"slices"
)

// urlStarts is what URLs of a crawl begin with: they are canonical.
var urlStarts = []string{"http://", "https://"}

// matchesNoURL reports whether no URL can match a pattern, as what it wants at the start
// is not one of urlStarts. It says so only if that is sure.
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

// starter follows a regular expression from the start of a text on.
type starter struct{ prog *syntax.Prog }

// anywhere reports whether a match may begin behind the start of a text.
func (s starter) anywhere() bool {
	const behind = syntax.EmptyEndLine | syntax.EmptyEndText | syntax.EmptyWordBoundary | syntax.EmptyNoWordBoundary
	next, matched := s.reach([]uint32{uint32(s.prog.Start)}, behind)
	return matched || len(next) > 0
}

// mayMatch reports whether a text with that start may match from there on.
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

// reach returns the instructions that wait for a character, of those that are reached
// where what is empty holds, and whether one of them is the end of a match.
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

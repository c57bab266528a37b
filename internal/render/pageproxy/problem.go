package pageproxy

import (
	"slices"
	"strings"

	"seine/internal/base/truncate"
)

// Problem is a reason why a page may be incomplete: requests that failed in the same way, or a
// script error.
type Problem struct {
	Reason string // for people, with advice
	Count  int
	URL    string // of the first such request, or of the script
}

// MaxProblems bounds the problems of a page.
const MaxProblems = 6

// maxProblemURL bounds the URL of a problem, in bytes.
const maxProblemURL = 300

// Problems are the problems of a page, by their reasons.
type Problems []Problem

// Add counts a problem. It ignores new reasons beyond MaxProblems.
func (p *Problems) Add(reason, url string) {
	reason = truncate.To(strings.ToValidUTF8(reason, "\ufffd"), maxReason)
	if i := slices.IndexFunc(*p, func(known Problem) bool { return known.Reason == reason }); i >= 0 {
		(*p)[i].Count++
	} else if len(*p) < MaxProblems {
		*p = append(*p, Problem{reason, 1, truncate.To(strings.ToValidUTF8(url, "\ufffd"), maxProblemURL)})
	}
}

package messages

import (
	"cmp"
	"fmt"
)

// RenderProblem is why a rendered page may be incomplete: requests of the page that failed in one
// way, or an error of its scripts.
type RenderProblem struct {
	Reason string `json:"reason"` // for users, with the remedy
	Count  int    `json:"count"`
	URL    string `json:"url,omitempty"` // of the first such request, or of the script
}

// MaxRenderProblems bounds the problems of a page.
const MaxRenderProblems = 6

// RenderProblems are the problems of a page, grouped by reason.
type RenderProblems []RenderProblem

// String describes the problem for users.
func (p RenderProblem) String() string {
	text := p.Reason
	if p.Count > 1 {
		text += fmt.Sprintf(", %d times", p.Count)
	}
	if p.URL != "" {
		text += ", such as " + p.URL
	}
	return text
}

func (p RenderProblems) check() error {
	if len(p) > MaxRenderProblems {
		return fmt.Errorf("render_problems has %d: at most %d", len(p), MaxRenderProblems)
	}
	for _, problem := range p {
		if err := cmp.Or(checkText("render_problems.reason", problem.Reason), checkText("render_problems.url", problem.URL)); err != nil {
			return err
		}
		if problem.Count < 1 {
			return fmt.Errorf("render_problems.count %d: must be at least 1", problem.Count)
		}
	}
	return nil
}

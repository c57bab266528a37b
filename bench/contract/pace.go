package contract

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"seine/internal/testing/testweb"
)

// requestGaps is how the requests of a log kept their distance.
type requestGaps struct {
	early       []string // came before the delay was over
	overlapping []string // came while another was under way
	smallest    float64  // gap, as a share of the delay
}

// requisitePrefix begins the paths of what pages of the test web need beside their document.
const requisitePrefix = "/static/"

// paceOf looks at every two requests to a host that follow each other, robots.txt included, by the server's clock. What a browser
// asks for to show a page has no delay of its own, but must not be asked for beside a page, and the next page waits for the end of it.
func paceOf(requests []testweb.Request, delay time.Duration) (p requestGaps) {
	p.smallest = noGap
	last := make(map[string]*testweb.Request) // by host: that which ended last
	slices.SortStableFunc(requests, func(a, b testweb.Request) int { return a.At.Compare(b.At) })
	for i := range requests {
		r := &requests[i]
		before, requisite := last[r.Host], isRequisite(r)
		if before == nil {
			last[r.Host] = r
			continue
		}
		gap := r.At.Sub(before.End)
		what := fmt.Sprintf("%s %s at %s, %v after the end of %s (from %s to %s)", r.Host, r.Path, r.At.Format(stampFormat), gap,
			before.Path, before.At.Format(stampFormat), before.End.Format(stampFormat))
		switch {
		case requisite && (isRequisite(before) || !before.End.IsZero() && gap >= 0):
		case before.End.IsZero() || gap < 0:
			p.overlapping = append(p.overlapping, what)
			p.smallest = min(p.smallest, 0)
		case gap < delay:
			p.early = append(p.early, what)
			fallthrough
		default:
			p.smallest = min(p.smallest, float64(gap)/float64(delay))
		}
		if !before.End.IsZero() && (r.End.IsZero() || r.End.After(before.End)) {
			last[r.Host] = r
		}
	}
	return p
}

func isRequisite(r *testweb.Request) bool { return strings.HasPrefix(r.Path, requisitePrefix) }

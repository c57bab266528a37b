package state

import (
	"time"

	"seine/pkg/crawlspec"
)

// ScopePreview predicts the frontier's decisions on URLs found on a page, for a crawl that starts
// at that page and has seen nothing else.
type ScopePreview struct {
	rules *Rules
	root  root
	now   time.Time
}

// NewScopePreview returns the preview for a spec, which must be valid, and a page. Guards that
// check dates count from now.
func NewScopePreview(spec *crawlspec.Spec, page string, now time.Time) (*ScopePreview, error) {
	r, err := compile(crawlspec.Revision{Spec: spec})
	if err != nil {
		return nil, err
	}
	return &ScopePreview{rules: r, root: r.root(page), now: now}, nil
}

// Evaluate returns why a URL would be excluded, "" if it would not, and its priority. depth is its
// distance in links; given is the priority that the parser gave it.
func (o *ScopePreview) Evaluate(url string, depth int, given *int) (excluded string, priority int) {
	opened := o.rules.root(url) == o.root || o.rules.namesHost(url)
	u := &urlRecord{URL: url, Depth: depth}
	return o.rules.exclusionReason(u, opened, o.now.UnixNano()), int(o.rules.priority(url, ownPriority(given)))
}

// EvaluateSeed returns why a URL would be excluded even as a seed, "" if it would not.
func (o *ScopePreview) EvaluateSeed(url string) string {
	return o.rules.exclusionReason(&urlRecord{URL: url, Seed: true}, true, o.now.UnixNano())
}

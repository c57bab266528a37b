package frontierapi

import (
	"context"

	"seine/pkg/crawlspec"
)

// Dropped is how many of the waiting URLs one more exclude pattern would drop, among those that
// were checked.
type Dropped struct {
	Waiting int64    `json:"waiting"` // checked URLs that wait for their host, or for another attempt
	URLs    int64    `json:"urls"`    // URLs that match the pattern
	Some    []string `json:"some,omitempty"`
	// Partial means that not all URLs were checked: these are a sample, by hash.
	Partial bool `json:"partial,omitempty"`
}

// MaxDropped is the maximum number of URLs in Dropped.Some for each partition.
const MaxDropped = 5

// WouldDrop returns which waiting URLs of a crawl an exclude pattern would drop; it changes
// nothing. Each partition checks at most 10,000 URLs, which takes 20 ms.
func (c Client) WouldDrop(ctx context.Context, crawl, pattern string) (all Dropped, err error) {
	if _, err := crawlspec.CompilePattern(pattern); err != nil {
		return all, err
	}
	parts, err := c.statuses(ctx, Query{Crawl: crawl, Drop: pattern})
	if err != nil {
		return all, err
	}
	for i := range parts {
		d := parts[i].Dropped
		if d == nil { // the crawl is being deleted
			all.Partial = true
			continue
		}
		all.Waiting, all.URLs = all.Waiting+d.Waiting, all.URLs+d.URLs
		all.Some, all.Partial = append(all.Some, d.Some...), all.Partial || d.Partial
	}
	return all, nil
}

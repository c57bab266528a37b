package frontierapi

import (
	"context"

	"seine/pkg/crawlspec"
)

// Dropped is what of the URLs that wait one more pattern of exclude would drop, as far as was looked.
type Dropped struct {
	Waiting int64    `json:"waiting"` // URLs that wait for their host, or for another attempt, and were looked at
	URLs    int64    `json:"urls"`    // those of them that the pattern matches
	Some    []string `json:"some,omitempty"`
	// Partial says that there are more URLs than were looked at: these are a sample, by hash.
	Partial bool `json:"partial,omitempty"`
}

// MaxDropped is how many URLs Dropped has of each partition.
const MaxDropped = 5

// WouldDrop returns what a pattern of exclude would drop of a crawl; nothing is changed. Each partition looks at 10,000
// URLs at most, which takes it 20 ms.
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

package frontierapi

import (
	"context"

	"seine/pkg/messages"
)

// KnownURL is a URL that a crawl knows.
type KnownURL struct {
	URL   string `json:"url"`
	State string `json:"state"` // as in an Explanation
}

// KnownPage is a part of the URLs of a host that a crawl knows.
type KnownPage struct {
	URLs []KnownURL `json:"urls"`
	// Next is what Query.After is for the next part, "" if there is none.
	Next string `json:"next,omitempty"`
}

// KnownPage returns a part of what a crawl knows of the URLs of a host, which is that of a canonical URL, in the
// order of their hash: most at most, or as many as an answer has for 0. After is the hash, in hexadecimal digits,
// behind which the part begins, "" for the first. A part may have none and not be the last: a frontier looks at
// so many URLs for one answer.
func (c Client) KnownPage(ctx context.Context, crawl, host, after string, most int) (page KnownPage, err error) {
	p := messages.Partition("http://"+host+"/", c.Bus.Layout.Partitions)
	err = c.queryPartition(ctx, OpURLs, p, Query{Crawl: crawl, Host: host, After: after, Top: most}, &page)
	return page, err
}

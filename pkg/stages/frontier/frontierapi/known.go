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

// KnownPage is a page of the URLs of a host that a crawl knows.
type KnownPage struct {
	URLs []KnownURL `json:"urls"`
	// Next is the Query.After of the next page, "" if there is none.
	Next string `json:"next,omitempty"`
}

// KnownPage returns a page of the URLs of a host that a crawl knows, in the order of their hash.
// host is the host of a canonical URL. The page has at most most URLs, or as many as fit in an
// answer if most is 0. after is the hash, in hexadecimal digits, after which the page begins, ""
// for the first. A page may be empty and not be the last, since a frontier checks a limited number
// of URLs for one answer.
func (c Client) KnownPage(ctx context.Context, crawl, host, after string, most int) (page KnownPage, err error) {
	p := messages.Partition("http://"+host+"/", c.Bus.Layout.Partitions)
	err = c.queryPartition(ctx, OpURLs, p, Query{Crawl: crawl, Host: host, After: after, Top: most}, &page)
	return page, err
}

package frontierapi

import (
	"context"
	"errors"
	"fmt"

	"seine/pkg/messages"
)

// ParseFailed is the class in queries for URLs that were fetched and whose page could not be
// parsed: the class of their last request is ok.
const ParseFailed = "parse_error"

// HostGivenUp is the class in queries for URLs that were not sent, or not retried, because their
// host failed too often in a row.
const HostGivenUp = "host_given_up"

// FailedURL is a URL whose last visit failed.
type FailedURL struct {
	URL    string `json:"url"`
	Class  string `json:"class"` // a messages.Class, ParseFailed or HostGivenUp
	Reason string `json:"reason,omitempty"`
}

// FailedPage is a page of the failed URLs of a crawl in a partition.
type FailedPage struct {
	URLs []FailedURL `json:"urls"`
	// Next is the Query.After of the next page, "" if there is none.
	Next string `json:"next,omitempty"`
}

// CheckFailure returns an error if class is not valid for Failed.
func CheckFailure(class string) error {
	if class != ParseFailed && class != HostGivenUp && !messages.Class(class).Valid() {
		return fmt.Errorf("unknown class %q: use a class of docs/reference/wire.md, such as gone, timeout or server_error, or %s or %s", class, ParseFailed, HostGivenUp)
	}
	return nil
}

// Failed calls do for every URL of a crawl whose last visit failed with a class, or with any for
// "", until do returns an error.
func (c Client) Failed(ctx context.Context, crawl, class string, do func(*FailedURL) error) error {
	if class != "" {
		if err := CheckFailure(class); err != nil {
			return err
		}
	}
	for p := range c.Bus.Layout.Partitions {
		for after, more := "", true; more; {
			page, err := c.FailedPage(ctx, crawl, class, p, after, 0)
			if err != nil {
				return err
			}
			for i := range page.URLs {
				if err := do(&page.URLs[i]); err != nil {
					return err
				}
			}
			if page.Next != "" && page.Next <= after {
				return errors.New("the frontier's list of failed URLs does not advance")
			}
			after, more = page.Next, page.Next != ""
		}
	}
	return nil
}

// FailedPage returns a page of the failed URLs of a crawl in a partition, with a class or, for "",
// with any. It has at most most URLs, or as many as fit in an answer if most is 0. after is the
// Next of the page before, "" for the first. A page may be empty and not be the last, since a
// frontier checks a limited number of URLs for one answer.
func (c Client) FailedPage(ctx context.Context, crawl, class string, partition int, after string, most int) (page FailedPage, err error) {
	err = c.queryPartition(ctx, OpFailed, partition, Query{Crawl: crawl, Class: class, After: after, Top: most}, &page)
	return page, err
}

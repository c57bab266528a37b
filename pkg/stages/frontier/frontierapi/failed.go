package frontierapi

import (
	"context"
	"errors"
	"fmt"

	"seine/pkg/messages"
)

// ParseFailed stands in a question for the URLs that were fetched and whose page
// could not be parsed: the class of their last request is ok.
const ParseFailed = "parse_error"

// HostGivenUp stands there for the URLs that were not sent, or not again, since their host
// failed too often in a row.
const HostGivenUp = "host_given_up"

// FailedURL is a URL whose last visit failed.
type FailedURL struct {
	URL    string `json:"url"`
	Class  string `json:"class"` // a messages.Class, ParseFailed or HostGivenUp
	Reason string `json:"reason,omitempty"`
}

// FailedPage is a part of the failed URLs of a crawl in a partition.
type FailedPage struct {
	URLs []FailedURL `json:"urls"`
	// Next is what Query.After is for the next part, "" if there is none.
	Next string `json:"next,omitempty"`
}

// CheckFailure reports whether Failed can be asked for URLs that failed by it.
func CheckFailure(class string) error {
	if class != ParseFailed && class != HostGivenUp && !messages.Class(class).Valid() {
		return fmt.Errorf("unknown class %q: use a class of docs/reference/wire.md, such as gone, timeout or server_error, or %s or %s", class, ParseFailed, HostGivenUp)
	}
	return nil
}

// Failed calls do for every URL of a crawl whose last visit failed, by a class
// or, for "", by any, until do returns an error.
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

// FailedPage returns a part of the failed URLs of a crawl in a partition, by a class or, for "", by any: most at
// most, or as many as an answer has for 0. After is Next of the part before, "" for the first. A part may have
// none and not be the last: a frontier looks at so many URLs for one answer.
func (c Client) FailedPage(ctx context.Context, crawl, class string, partition int, after string, most int) (page FailedPage, err error) {
	err = c.queryPartition(ctx, OpFailed, partition, Query{Crawl: crawl, Class: class, After: after, Top: most}, &page)
	return page, err
}

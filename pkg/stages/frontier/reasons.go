package frontier

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"seine/internal/base/truncate"
	"seine/pkg/messages"
)

// Example is a URL that ended without a page, or whose page has no record.
type Example struct {
	URL string `json:"url"`
	// Why is what is known of it beside the reason, for a person.
	Why string `json:"why,omitempty"`
}

// examples are the first URLs that failed or were excluded for each reason, and still
// are: people ask for one first. They are in the state of the crawl, which every turn
// stores, so they are few and short.
type examples struct {
	Failures   map[string]Example `json:"failures,omitempty"`
	Exclusions map[string]Example `json:"exclusions,omitempty"`
	LeftOut    map[string]Example `json:"left_out,omitempty"`
}

const (
	maxExampleURL = 512 // longer ones are none: another will come
	maxExampleWhy = 256
)

func (x *examples) of(r *urlRecord) *map[string]Example {
	switch {
	case r.State == Failed:
		return &x.Failures
	case r.State == Excluded:
		return &x.Exclusions
	case r.isLeftOut():
		return &x.LeftOut
	default:
		return nil
	}
}

// forget takes note that a URL is about to leave its state.
func (x *examples) forget(r *urlRecord) {
	if all := x.of(r); all != nil && (*all)[r.endedBy()].URL == r.URL {
		delete(*all, r.endedBy())
	}
}

// add takes note that a URL came to its state.
func (x *examples) add(r *urlRecord) {
	all := x.of(r)
	if all == nil || len(r.URL) > maxExampleURL {
		return
	}
	why := r.endedBy()
	if _, has := (*all)[why]; has {
		return
	}
	e := Example{URL: r.URL}
	if r.State != Excluded && r.Reason != why {
		e.Why = truncate.To(strings.TrimPrefix(r.Reason, leftOutMark), maxExampleWhy)
	}
	if *all == nil {
		*all = make(map[string]Example)
	}
	(*all)[why] = e
}

// endedBy is the reason by which a URL without a page, or without a record of it, is counted,
// "" for others.
func (r *urlRecord) endedBy() string {
	switch {
	case r.State == Excluded:
		return r.Reason
	case r.isLeftOut():
		return messages.LeftOutReason(strings.TrimPrefix(r.Reason, leftOutMark))
	}
	return r.failedBy()
}

// leftOutMark begins the reason of a URL whose page has no record because of a condition of
// the spec. While the URL is visited again it stays: an unchanged page is left out still.
const leftOutMark = "left out: "

// leftOut returns such a reason, "" if it is another.
func (r *urlRecord) leftOut() string {
	if strings.HasPrefix(r.Reason, leftOutMark) {
		return r.Reason
	}
	return ""
}

// isLeftOut reports whether the page of a URL has no record because of a condition.
func (r *urlRecord) isLeftOut() bool { return r.State == Done && r.leftOut() != "" }

// Reason is why URLs of a crawl ended without a page, or their pages without a record.
type Reason struct {
	Name string `json:"reason"` // a class, ParseFailed, HostGivenUp, the name of a rule, or of messages.LeftOutReasons
	URLs int64  `json:"urls"`
	// Example is one of them, nil if none is known.
	Example *Example `json:"example,omitempty"`
}

// Reasons are why URLs of a crawl failed and were excluded, and why pages have no record, the
// commonest first.
type Reasons struct {
	Failures   []Reason `json:"failures,omitempty"`
	Exclusions []Reason `json:"exclusions,omitempty"`
	LeftOut    []Reason `json:"left_out,omitempty"`
}

// Reasons returns why URLs of a crawl ended without a page, over all partitions.
func (c *Client) Reasons(ctx context.Context, crawl string) (all Reasons, err error) {
	parts, err := c.statuses(ctx, Query{Crawl: crawl, Examples: true})
	if err != nil {
		return all, err
	}
	var known examples
	for i := range parts {
		if x := parts[i].Examples; x != nil {
			merge(&known.Failures, x.Failures)
			merge(&known.Exclusions, x.Exclusions)
			merge(&known.LeftOut, x.LeftOut)
		}
	}
	total := sum(parts)
	return Reasons{
		reasonsOf(total.FailedBy, known.Failures), reasonsOf(total.Excluded, known.Exclusions), reasonsOf(total.LeftOut, known.LeftOut),
	}, nil
}

func merge(to *map[string]Example, from map[string]Example) {
	for why, e := range from {
		if *to == nil {
			*to = make(map[string]Example)
		}
		(*to)[why] = e
	}
}

func reasonsOf(counts map[string]int64, known map[string]Example) (all []Reason) {
	for name, n := range counts {
		r := Reason{Name: name, URLs: n}
		if e, ok := known[name]; ok {
			r.Example = &e
		}
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b Reason) int { return cmp.Or(cmp.Compare(b.URLs, a.URLs), cmp.Compare(a.Name, b.Name)) })
	return all
}

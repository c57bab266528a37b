package frontierapi

import (
	"cmp"
	"context"
	"slices"
)

// Reasons why a URL is excluded. Those of the guards against endless sites are in package traps.
const (
	ReasonScope      = "scope"      // its host is not in the crawl's scope
	ReasonScheme     = "scheme"     // its scheme is not in the crawl's scope
	ReasonInclude    = "include"    // it matches no include pattern
	ReasonExclude    = "exclude"    // it matches an exclude pattern
	ReasonDepth      = "depth"      // too many links from a seed
	ReasonRedirects  = "redirects"  // too many redirects in a row
	ReasonHostPages  = "host_pages" // its host has reached its page limit
	ReasonCancelled  = "cancelled"  // a user cancelled the crawl, or its host
	ReasonNormalized = "normalized" // the normalization rules changed and map it to another URL
	ReasonRobots     = "robots"     // robots.txt does not allow it
	ReasonAddress    = "address"    // its IP address must not be dialled
	ReasonExtension  = "extension"  // its name has the extension of an unwanted file type
	ReasonType       = "type"       // its response has an unwanted file type
)

// Example is a URL that ended without a page, or whose page has no record.
type Example struct {
	URL string `json:"url"`
	// Why is a detail for users beside the reason.
	Why string `json:"why,omitempty"`
}

// Examples are, for each reason, the first URLs that failed or were excluded and still are. They
// are in the state of the crawl, which every turn stores, so they are few and short.
type Examples struct {
	Failures   map[string]Example `json:"failures,omitempty"`
	Exclusions map[string]Example `json:"exclusions,omitempty"`
	LeftOut    map[string]Example `json:"left_out,omitempty"`
}

// Reason is why URLs of a crawl ended without a page, or their pages without a record.
type Reason struct {
	Name string `json:"reason"` // a class, ParseFailed, HostGivenUp, the name of a rule, or of messages.LeftOutReasons
	URLs int64  `json:"urls"`
	// Example is one of them, nil if none is known.
	Example *Example `json:"example,omitempty"`
}

// Reasons are the reasons why URLs of a crawl failed or were excluded, and why pages have no
// record, the most common first.
type Reasons struct {
	Failures   []Reason `json:"failures,omitempty"`
	Exclusions []Reason `json:"exclusions,omitempty"`
	LeftOut    []Reason `json:"left_out,omitempty"`
}

// Reasons returns why URLs of a crawl ended without a page, over all partitions.
func (c Client) Reasons(ctx context.Context, crawl string) (all Reasons, err error) {
	parts, err := c.statuses(ctx, Query{Crawl: crawl, Examples: true})
	if err != nil {
		return all, err
	}
	var known Examples
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

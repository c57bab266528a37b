package frontierapi

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"seine/internal/base/tally"
	"seine/pkg/messages"
)

// Survey is the state of all hosts together, and their recent errors.
type Survey struct {
	// Hosts counts the hosts with queued URLs or in-flight requests by state: a value of
	// HostStatus.Why, Asked or Due.
	Hosts map[string]int64 `json:"hosts,omitempty"`
	// Partial means that there are too many hosts to survey all of them.
	Partial bool `json:"partial,omitempty"`
	// Slowest have the longest mean request, Longest the longest queues, Busiest the most requests,
	// among hosts with work, each in descending order.
	Slowest []HostStatus `json:"slowest,omitempty"`
	Longest []HostStatus `json:"longest,omitempty"`
	Busiest []HostStatus `json:"busiest,omitempty"`
	// Troubles are requests that failed, the newest first.
	Troubles []RequestFailure `json:"troubles,omitempty"`
}

// Cut sorts each list of hosts and keeps the first top.
func (s *Survey) Cut(top int) {
	keep := func(hs []HostStatus, by func(*HostStatus) int64) []HostStatus {
		slices.SortFunc(hs, func(a, b HostStatus) int {
			return cmp.Or(cmp.Compare(by(&b), by(&a)), cmp.Compare(a.Host, b.Host))
		})
		return hs[:min(len(hs), top)]
	}
	s.Slowest = keep(s.Slowest, func(h *HostStatus) int64 { return h.MeanMS })
	s.Longest = keep(s.Longest, func(h *HostStatus) int64 { return int64(h.Queued) })
	s.Busiest = keep(s.Busiest, func(h *HostStatus) int64 { return h.Requests })
}

// LongestQueue returns a lower bound of the time until the longest queues have no URL of the crawl
// left.
func (s *Survey) LongestQueue(crawl string) (longest time.Duration) {
	for i := range s.Longest {
		h := &s.Longest[i]
		for _, work := range h.Crawls {
			if work.Crawl == crawl && h.DelayMS > 0 {
				longest = max(longest, time.Duration(int64(work.Queued)*(h.DelayMS+h.MeanMS))*time.Millisecond)
			}
		}
	}
	return longest
}

// Survey returns the state of the hosts that a crawl has work for, or of all crawls for "", with at
// most top in each list. Frequent calls are cheap: an answer may be some seconds old where there
// are many hosts.
func (c Client) Survey(ctx context.Context, crawl string, top int) (*Survey, error) {
	parts, err := queryAll[Survey](ctx, c, OpSurvey, Query{Crawl: crawl, Top: top})
	if err != nil {
		return nil, err
	}
	all := new(Survey)
	for i := range parts {
		p := &parts[i]
		tally.AddAll(&all.Hosts, p.Hosts)
		all.Partial = all.Partial || p.Partial
		all.Slowest, all.Longest, all.Busiest = append(all.Slowest, p.Slowest...), append(all.Longest, p.Longest...), append(all.Busiest, p.Busiest...)
		all.Troubles = append(all.Troubles, p.Troubles...)
	}
	all.Cut(top)
	slices.SortFunc(all.Troubles, func(a, b RequestFailure) int { return cmp.Compare(b.AtMS, a.AtMS) })
	all.Troubles = all.Troubles[:min(len(all.Troubles), top)]
	return all, nil
}

// RequestFailure is a request that failed.
type RequestFailure struct {
	AtMS    int64          `json:"at_ms"` // Unix ms
	Crawl   string         `json:"crawl"`
	URL     string         `json:"url"`
	Class   messages.Class `json:"class"`
	Status  int            `json:"status,omitempty"`
	Error   string         `json:"error,omitempty"`
	Attempt int            `json:"attempt"`
}

// Text returns the reason in one line: the class, and the error or the status if there is one.
func (f *RequestFailure) Text() string {
	switch {
	case f.Error != "":
		return fmt.Sprintf("%s: %s", f.Class, f.Error)
	case f.Status != 0:
		return fmt.Sprintf("%s %d", f.Class, f.Status)
	}
	return string(f.Class)
}

// States of hosts that do not wait.
const (
	Asked = "asked" // a request is in flight
	Due   = "due"   // one may be sent
)

package frontierapi

import (
	"cmp"
	"slices"

	"seine/pkg/messages"
)

// HostStatus is the frontier's state of a host.
type HostStatus struct {
	Host     string `json:"host"`
	Queued   int    `json:"queued"`
	InFlight int    `json:"in_flight"`
	// Why is the reason for which the host waits, "" for none: delay, backoff, retry_after,
	// breaker_open, hours, parked (its crawl is paused or has spent its budget), given_up.
	Why      string `json:"why,omitempty"`
	NextMS   int64  `json:"next_ms"`  // no request before, Unix ms
	DelayMS  int64  `json:"delay_ms"` // between a response and the next request
	IP       string `json:"ip,omitempty"`
	Requests int64  `json:"requests"`
	Pages    int64  `json:"pages"`
	Errors   int64  `json:"errors"`
	Bytes    int64  `json:"bytes"`
	MeanMS   int64  `json:"mean_ms"` // of a request
	// Failing is the number of consecutive failures, SlowedMS the extra delay because the host
	// refused requests, CrawlDelayMS the Crawl-delay of its robots.txt.
	Failing      int   `json:"failing,omitempty"`
	SlowedMS     int64 `json:"slowed_ms,omitempty"`
	CrawlDelayMS int64 `json:"crawl_delay_ms,omitempty"`
	// Crawls are the crawls with work for the host.
	Crawls []HostWork `json:"crawls,omitempty"`
	// Last are the responses since this frontier loaded the host into memory, the oldest first;
	// only in answers about one host.
	Last []Attempt `json:"last,omitempty"`
}

// HostWork is the work of one crawl on a host.
type HostWork struct {
	Crawl    string `json:"crawl"`
	Queued   int    `json:"queued"`
	InFlight int    `json:"in_flight"`
	Parked   bool   `json:"parked,omitempty"` // paused, cancelled, or over its budget
}

// Attempt is the outcome of one recent request.
type Attempt struct {
	AtMS   int64          `json:"at_ms"` // Unix ms
	Class  messages.Class `json:"class"`
	Status int            `json:"status,omitempty"`
	TookMS int64          `json:"took_ms"`
}

// KeepSlowest returns the top hosts with the longest mean request. It sorts hs.
func KeepSlowest(hs []HostStatus, top int) []HostStatus {
	slices.SortFunc(hs, func(a, b HostStatus) int { return cmp.Compare(b.MeanMS, a.MeanMS) })
	return hs[:min(len(hs), max(top, 0))]
}

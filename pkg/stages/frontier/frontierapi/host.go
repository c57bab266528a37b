package frontierapi

import (
	"slices"

	"seine/pkg/messages"
)

// HostStatus is what the frontier knows of a host.
type HostStatus struct {
	Host     string `json:"host"`
	Queued   int    `json:"queued"`
	InFlight int    `json:"in_flight"`
	// Why says what the host waits for, "" for nothing: delay, backoff,
	// retry_after, breaker_open, hours, parked (its crawl is paused or has spent
	// its budget), given_up.
	Why      string `json:"why,omitempty"`
	NextMS   int64  `json:"next_ms"`  // no request before, Unix ms
	DelayMS  int64  `json:"delay_ms"` // between a response and the next request
	IP       string `json:"ip,omitempty"`
	Requests int64  `json:"requests"`
	Pages    int64  `json:"pages"`
	Errors   int64  `json:"errors"`
	Bytes    int64  `json:"bytes"`
	MeanMS   int64  `json:"mean_ms"` // of a request
	// Failing is how often the host has failed in a row, SlowedMS the delay that
	// it earned by refusing, CrawlDelayMS what its robots.txt asks for.
	Failing      int   `json:"failing,omitempty"`
	SlowedMS     int64 `json:"slowed_ms,omitempty"`
	CrawlDelayMS int64 `json:"crawl_delay_ms,omitempty"`
	// Crawls are those with work for it.
	Crawls []HostWork `json:"crawls,omitempty"`
	// Last are the answers since this frontier has had the host in memory, the
	// oldest first; only where one host is asked about.
	Last []Attempt `json:"last,omitempty"`
}

// HostWork is what one crawl wants of a host.
type HostWork struct {
	Crawl    string `json:"crawl"`
	Queued   int    `json:"queued"`
	InFlight int    `json:"in_flight"`
	Parked   bool   `json:"parked,omitempty"` // paused, cancelled, or over its budget
}

// Attempt is how one request ended, of the last ones.
type Attempt struct {
	AtMS   int64          `json:"at_ms"` // Unix ms
	Class  messages.Class `json:"class"`
	Status int            `json:"status,omitempty"`
	TookMS int64          `json:"took_ms"`
}

// KeepSlowest keeps the hosts with the longest mean request, so many at most.
func KeepSlowest(hs []HostStatus, top int) []HostStatus {
	slices.SortFunc(hs, func(a, b HostStatus) int { return int(b.MeanMS - a.MeanMS) })
	return hs[:min(len(hs), max(top, 0))]
}

package frontierapi

import (
	"seine/pkg/messages"
)

// Explanation is the state of a URL and its reasons.
type Explanation struct {
	Known bool `json:"known"`
	// Behind means that the partition has a new owner, which is still reading the messages that the
	// former one had applied: more is known in a moment.
	Behind   bool           `json:"behind,omitempty"`
	URL      string         `json:"url"`
	Visit    messages.Visit `json:"visit,omitzero"`
	State    string         `json:"state,omitempty"`
	Reason   string         `json:"reason,omitempty"`
	Warning  string         `json:"warning,omitempty"`  // what of its page could not be read
	LeftOut  string         `json:"left_out,omitempty"` // why its page has no record
	Class    messages.Class `json:"class,omitempty"`
	Status   int            `json:"status,omitempty"`
	Priority int            `json:"priority"`
	Depth    int            `json:"depth"`
	Referrer string         `json:"referrer,omitempty"`
	Seed     bool           `json:"seed,omitempty"`
	// Metadata is the metadata of a seed, which its records have; with Inherit, so do the URLs
	// found on it.
	Metadata messages.Metadata `json:"metadata,omitempty"`
	Inherit  bool              `json:"inherit,omitempty"`

	Sent      int   `json:"sent"`
	Failures  int   `json:"failures"`
	ChangedMS int64 `json:"changed_ms,omitempty"`
	// NextMS is when the URL is retried or visited again, Unix ms; 0 if it is not, or waits for its
	// host.
	NextMS  int64     `json:"next_ms,omitempty"`
	History []Attempt `json:"history,omitempty"`
	// Host is the URL's host, which shows why the URL waits.
	Host *HostStatus `json:"host,omitempty"`
	// Redirects is the number of consecutive redirects that led here; the last of them is the
	// Referrer.
	Redirects int `json:"redirects,omitempty"`
	// FetchSeq is the sequence in FETCH of the in-flight request, 0 if there is none.
	FetchSeq uint64 `json:"fetch_seq,omitempty"`
	// Now is the verdict of the current spec.
	Now Verdict `json:"now"`
}

// Verdict is the decision of a spec about a URL.
type Verdict struct {
	Rev uint64 `json:"rev"` // of the spec
	// Reason is why the URL would be excluded, "" if it would not. Facts that are only known after
	// a request, such as robots.txt, count only if they are already known.
	Reason string `json:"reason,omitempty"`
	// Stands means that the URL is excluded because of a response or of other URLs, whatever else
	// the spec says.
	Stands bool `json:"stands,omitempty"`
	// Rule is the pattern that decides, if one does.
	Rule string `json:"rule,omitempty"`
	// Unknown means that the crawl has never had seeds: its scope is unknown.
	Unknown bool `json:"unknown_crawl,omitempty"`
}

// States of a URL in an Explanation that are not final.
const (
	StateQueued  = "queued"  // it waits for its host
	StateWaiting = "waiting" // it waits for another attempt
)

package frontierapi

import (
	"seine/pkg/messages"
)

// Explanation is what became of a URL.
type Explanation struct {
	Known bool `json:"known"`
	// Behind says that the partition has a new owner, which still reads what the one
	// before has applied: in a moment more is known.
	Behind   bool           `json:"behind,omitempty"`
	URL      string         `json:"url"`
	Visit    messages.Visit `json:"visit,omitzero"`
	State    string         `json:"state,omitempty"`
	Reason   string         `json:"reason,omitempty"`
	Warning  string         `json:"warning,omitempty"`  // what of its page could not be read
	LeftOut  string         `json:"left_out,omitempty"` // why no record was made of its page
	Class    messages.Class `json:"class,omitempty"`
	Status   int            `json:"status,omitempty"`
	Priority int            `json:"priority"`
	Depth    int            `json:"depth"`
	Referrer string         `json:"referrer,omitempty"`
	Seed     bool           `json:"seed,omitempty"`
	// Metadata is what its records have of a seed, Inherit whether what is found on it
	// has that too.
	Metadata messages.Metadata `json:"metadata,omitempty"`
	Inherit  bool              `json:"inherit,omitempty"`

	Sent      int   `json:"sent"`
	Failures  int   `json:"failures"`
	ChangedMS int64 `json:"changed_ms,omitempty"`
	// NextMS is when it is tried or visited again, Unix ms; 0 if it is not, or
	// waits for its host.
	NextMS  int64     `json:"next_ms,omitempty"`
	History []Attempt `json:"history,omitempty"`
	// Host is that of the URL: why it waits.
	Host *HostStatus `json:"host,omitempty"`
	// Redirects is how many in a row led here; the last of them is the Referrer.
	Redirects int `json:"redirects,omitempty"`
	// FetchSeq is the sequence in FETCH of the request in flight, 0 if there is none.
	FetchSeq uint64 `json:"fetch_seq,omitempty"`
	// Now is what the spec says of the URL now.
	Now Verdict `json:"now"`
}

// Verdict is what a spec says of a URL.
type Verdict struct {
	Rev uint64 `json:"rev"` // of the spec
	// Reason is why the URL would be excluded, "" if it would not. What is only
	// known after a request, as what robots.txt says, is not in it unless it was found.
	Reason string `json:"reason,omitempty"`
	// Stands says that the URL is excluded by what was found, by a request or among other
	// URLs, whatever else the spec says.
	Stands bool `json:"stands,omitempty"`
	// Rule is the pattern that decides, if one does.
	Rule string `json:"rule,omitempty"`
	// Unknown says that the crawl has never been fed: nothing is known of its scope.
	Unknown bool `json:"unknown_crawl,omitempty"`
}

// States of a URL, in an Explanation, that are not its last.
const (
	StateQueued  = "queued"  // it waits for its host
	StateWaiting = "waiting" // it waits for another attempt
)

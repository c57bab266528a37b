package frontierapi

import "seine/pkg/crawlspec"

// Questions that the owner of a partition answers, on
// messages.SubjectFrontier, and the one that any frontier answers.
const (
	OpStatus  = "status"  // Query.Crawl → PartitionStatus
	OpHosts   = "hosts"   // Query.Crawl and Top → []HostStatus
	OpHost    = "host"    // Query.Host → HostStatus
	OpExplain = "explain" // Query.Crawl and URL → Explanation
	OpSurvey  = "survey"  // Query.Crawl and Top → Survey
	OpFailed  = "failed"  // Query.Crawl, Class, After and Top → FailedPage
	OpURLs    = "urls"    // Query.Crawl, Host, After and Top → KnownPage
	OpControl = "control" // Control → {"rev": …}
)

// Query is what one may ask a frontier.
type Query struct {
	Crawl string `json:"crawl,omitempty"`
	URL   string `json:"url,omitempty"`
	Host  string `json:"host,omitempty"`
	Top   int    `json:"top,omitempty"`
	Class string `json:"class,omitempty"`
	After string `json:"after,omitempty"`
	// Due asks status whether a host could be asked now, which takes a look at the
	// hosts.
	Due bool `json:"due,omitempty"`
	// Examples asks status for URLs that failed and were excluded.
	Examples bool `json:"examples,omitempty"`
	// Runs asks status for the figures of as many runs, the newest.
	Runs int `json:"runs,omitempty"`
	// Drop asks status what one more pattern of exclude would drop.
	Drop string `json:"drop,omitempty"`
	// Awake asks status, without a crawl, for those in which something is to happen.
	Awake bool `json:"awake,omitempty"`
}

// Failure is the answer when a question cannot be answered.
type Failure struct {
	Error string `json:"error"`
}

// Control is what one may tell a frontier to do.
type Control struct {
	Crawl string             `json:"crawl"`
	State crawlspec.RunState `json:"state"`
	// Host limits it to one host; all of the crawl if empty.
	Host string `json:"host,omitempty"`
	// Delete deletes the crawl instead.
	Delete bool `json:"delete,omitempty"`
}

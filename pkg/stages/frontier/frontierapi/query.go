package frontierapi

import "seine/pkg/crawlspec"

// Queries that the owner of a partition answers, on messages.SubjectFrontier, and OpControl, which
// any frontier answers.
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

// Query holds the parameters of a query.
type Query struct {
	Crawl string `json:"crawl,omitempty"`
	URL   string `json:"url,omitempty"`
	Host  string `json:"host,omitempty"`
	Top   int    `json:"top,omitempty"`
	Class string `json:"class,omitempty"`
	After string `json:"after,omitempty"`
	// Due asks OpStatus whether a request could be sent to a host now, which requires a scan of the
	// hosts.
	Due bool `json:"due,omitempty"`
	// Examples asks OpStatus for URLs that failed and were excluded.
	Examples bool `json:"examples,omitempty"`
	// Runs asks OpStatus for the figures of the newest runs, this many at most.
	Runs int `json:"runs,omitempty"`
	// Drop asks OpStatus what one more exclude pattern would drop.
	Drop string `json:"drop,omitempty"`
	// Awake asks OpStatus, without a crawl, for the crawls with work left.
	Awake bool `json:"awake,omitempty"`
}

// Failure is the answer to a query that failed.
type Failure struct {
	Error string `json:"error"`
}

// Control is a command to a frontier.
type Control struct {
	Crawl string             `json:"crawl"`
	State crawlspec.RunState `json:"state"`
	// Host limits the command to one host; empty means the whole crawl.
	Host string `json:"host,omitempty"`
	// Delete deletes the crawl instead of changing its state.
	Delete bool `json:"delete,omitempty"`
}

package frontierapi

import (
	"maps"

	"seine/internal/base/tally"
	"seine/pkg/messages"
)

// PartitionStatus is the status of a crawl in one partition.
type PartitionStatus struct {
	Partition int                          `json:"partition"`
	Owner     string                       `json:"owner"`
	Epoch     uint64                       `json:"epoch"`
	Positions map[string]messages.Position `json:"positions"`
	Counters  Counters                     `json:"counters"`
	// Late means that the crawl has reached its max_duration.
	Late bool `json:"late,omitempty"`
	// Next is the host that is asked next, if all hosts of the partition must wait.
	Next *HostStatus `json:"next,omitempty"`
	// LastFailure is the newest failed request of the crawl, nil if there was none since the
	// partition was opened.
	LastFailure *RequestFailure `json:"last_failure,omitempty"`
	// Due is the answer to Query.Due: a request could be sent to a host of the crawl now.
	Due bool `json:"due,omitempty"`
	// Examples is the answer to Query.Examples, one for each reason.
	Examples *Examples `json:"examples,omitempty"`
	// Runs are the answer to Query.Runs, the oldest first.
	Runs []Run `json:"runs,omitempty"`
	// Dropped is the answer to Query.Drop.
	Dropped *Dropped `json:"dropped,omitempty"`
	// Awake is the answer to Query.Awake.
	Awake *AwakeCrawls `json:"awake,omitempty"`
	// Deletion is the revision of the last deletion of the crawl's name that the partition knows, 0
	// for none; Removing means that the removal of the deleted crawl is not finished.
	Deletion uint64 `json:"deletion,omitempty"`
	Removing bool   `json:"removing,omitempty"`
	// Again is the last run over all URLs that the crawl has begun, as its spec names it.
	Again int64 `json:"again,omitempty"`
	// VisitingAll means that this run has not reached all URLs yet.
	VisitingAll bool `json:"visiting_all,omitempty"`
	// Seeds is the fingerprint of the list of seeds that the crawl has received completely; 0 for
	// none.
	Seeds uint64 `json:"seeds,omitempty"`
	// Reviewing means that URLs are still being checked against a changed spec, or re-admitted
	// because a seed opened their host.
	Reviewing bool `json:"reviewing,omitempty"`
	// Settling means that the partition has not yet applied everything that existed when it was
	// opened, for any crawl: messages in the streams, specs, and their effects.
	Settling bool `json:"settling,omitempty"`
	// Replaying means that the partition has a new owner, which is applying the messages that the
	// streams hold beyond its state: until then it sends nothing.
	Replaying bool `json:"replaying,omitempty"`
	// Unusable is why the newest spec of the crawl cannot be used, "" if it can be; Stalled means
	// that the crawl waits for a usable spec, since no earlier one can be used either.
	Unusable string `json:"unusable_spec,omitempty"`
	Stalled  bool   `json:"stalled,omitempty"`
}

// AwakeCrawls are the crawls of a partition with work left.
type AwakeCrawls struct {
	Names []string `json:"names"`
	// Partial means that there are too many to list them all.
	Partial bool `json:"partial,omitempty"`
}

// Counters count the URLs of a crawl in a partition by their state.
type Counters struct {
	Queued   int64 `json:"queued"`
	InFlight int64 `json:"in_flight"`
	Waiting  int64 `json:"waiting"`
	Parsing  int64 `json:"parsing"`
	Done     int64 `json:"done"`
	Failed   int64 `json:"failed"`
	// Planned counts the URLs in Done and Failed that will be visited again.
	Planned int64 `json:"planned,omitempty"`
	// Recrawling are the open URLs whose visit was planned by a rule of Spec.Recrawl and belongs to
	// no run.
	Recrawling int64 `json:"recrawling,omitempty"`
	// Run is when the current run of a scheduled crawl was due, Unix seconds.
	Run int64 `json:"run,omitempty"`
	// FailedBy divides Failed by class, ParseFailed or HostGivenUp; Excluded is by reason.
	FailedBy map[string]int64 `json:"failed_by,omitempty"`
	Excluded map[string]int64 `json:"excluded,omitempty"`
	// LeftOut counts the URLs in Done whose pages have no record because of a condition of the
	// spec, by reason: one of messages.LeftOutReasons.
	LeftOut map[string]int64 `json:"left_out,omitempty"`
	// Pages were fetched and passed to the parser; Attempts are by class.
	Pages    int64                    `json:"pages"`
	Attempts map[messages.Class]int64 `json:"attempts,omitempty"`
	// Warnings are incomplete pages: rendered ones that were cut; sitemaps, feeds and files with
	// errors.
	Warnings int64 `json:"warnings,omitempty"`
	// FailedLogins are requests that failed because of the login of rendered pages.
	FailedLogins int64 `json:"failed_logins,omitempty"`

	BytesWire int64 `json:"bytes_wire"`
	BytesBody int64 `json:"bytes_body"`
	// Started is when the first URL arrived, Changed the time of the last event, Unix ms.
	Started int64 `json:"started,omitempty"`
	Changed int64 `json:"changed,omitempty"`
}

// Pending returns the number of URLs with work left.
func (c *Counters) Pending() int64 { return c.Queued + c.InFlight + c.Waiting + c.Parsing }

// Known returns the number of URLs in all states.
func (c *Counters) Known() int64 {
	n := c.Pending() + c.Done + c.Failed
	for _, x := range c.Excluded {
		n += x
	}
	return n
}

// Add adds the counts of another partition.
func (c *Counters) Add(o *Counters) {
	c.Queued += o.Queued
	c.InFlight += o.InFlight
	c.Waiting += o.Waiting
	c.Parsing += o.Parsing
	c.Done += o.Done
	c.Failed += o.Failed
	c.Planned += o.Planned
	c.Recrawling += o.Recrawling
	c.Run = max(c.Run, o.Run)
	c.Pages += o.Pages
	c.Warnings += o.Warnings
	c.FailedLogins += o.FailedLogins
	c.BytesWire += o.BytesWire
	c.BytesBody += o.BytesBody
	tally.AddAll(&c.FailedBy, o.FailedBy)
	tally.AddAll(&c.Excluded, o.Excluded)
	tally.AddAll(&c.LeftOut, o.LeftOut)
	tally.AddAll(&c.Attempts, o.Attempts)
	if o.Started > 0 && (c.Started == 0 || o.Started < c.Started) {
		c.Started = o.Started
	}
	c.Changed = max(c.Changed, o.Changed)
}

// CrawlStatus is the status of a crawl over all partitions.
type CrawlStatus struct {
	Counters
	// Next is the host that is asked next, while all must wait.
	Next *HostStatus `json:"next,omitempty"`
	// LastFailure is the newest failed request, if its URL may be retried and the crawl is not
	// done.
	LastFailure *RequestFailure `json:"last_failure,omitempty"`
	// Unusable is why the newest stored spec of the crawl cannot be used; Stalled means that no
	// earlier one can be used either: nothing is sent until a usable spec is stored.
	Unusable string `json:"unusable_spec,omitempty"`
	Stalled  bool   `json:"stalled,omitempty"`
	// VisitingAll means that a run over all URLs has not reached all of them yet.
	VisitingAll bool `json:"visiting_all,omitempty"`
}

// SameStates reports whether the number of URLs in each state and the number of pages are equal.
func (c *Counters) SameStates(o *Counters) bool {
	return c.Queued == o.Queued && c.InFlight == o.InFlight && c.Waiting == o.Waiting && c.Parsing == o.Parsing &&
		c.Done == o.Done && c.Failed == o.Failed && c.Pages == o.Pages && maps.Equal(c.Excluded, o.Excluded)
}

package frontierapi

import (
	"maps"

	"seine/internal/base/tally"
	"seine/pkg/messages"
)

// PartitionStatus is how a crawl stands in one partition.
type PartitionStatus struct {
	Partition int                          `json:"partition"`
	Owner     string                       `json:"owner"`
	Epoch     uint64                       `json:"epoch"`
	Positions map[string]messages.Position `json:"positions"`
	Counters  Counters                     `json:"counters"`
	// Late says that the crawl has had its max_duration.
	Late bool `json:"late,omitempty"`
	// Next is the host that is asked next, if all of the partition's must wait.
	Next *HostStatus `json:"next,omitempty"`
	// LastFailure is the newest request of the crawl that failed, nil if none did since
	// the partition was opened.
	LastFailure *RequestFailure `json:"last_failure,omitempty"`
	// Due says that a host of the crawl could be asked now, if that was the
	// question.
	Due bool `json:"due,omitempty"`
	// Examples is the answer to Query.Examples, one for each reason.
	Examples *Examples `json:"examples,omitempty"`
	// Runs are the answer to Query.Runs, the oldest first.
	Runs []Run `json:"runs,omitempty"`
	// Dropped is the answer to Query.Drop.
	Dropped *Dropped `json:"dropped,omitempty"`
	// Awake is the answer to Query.Awake.
	Awake *AwakeCrawls `json:"awake,omitempty"`
	// Deletion is the revision of the last deletion of the crawl's name that the
	// partition knows, 0 if it knows none; Removing says that something is left of
	// what was deleted.
	Deletion uint64 `json:"deletion,omitempty"`
	Removing bool   `json:"removing,omitempty"`
	// Again is the last run over everything that the crawl has begun, as its spec names it.
	Again int64 `json:"again,omitempty"`
	// VisitingAll says that it has not come to all URLs yet.
	VisitingAll bool `json:"visiting_all,omitempty"`
	// Seeds is the list of seeds of a spec that the crawl has received whole; 0 is none.
	Seeds uint64 `json:"seeds,omitempty"`
	// Reviewing says that URLs are still being judged by a changed spec, or taken back
	// since a seed opened their host.
	Reviewing bool `json:"reviewing,omitempty"`
	// Settling says that the partition has not taken in all that was there when it was
	// opened, for any crawl: messages in the streams, specs, and what these change.
	Settling bool `json:"settling,omitempty"`
	// Replaying says that the partition has a new owner, which applies what the streams hold
	// beyond its state: until then nothing of it is sent.
	Replaying bool `json:"replaying,omitempty"`
	// Unusable is why the newest spec of the crawl cannot be used, "" if it can be; Stalled
	// says that the crawl waits for one, since none before it can be used either.
	Unusable string `json:"unusable_spec,omitempty"`
	Stalled  bool   `json:"stalled,omitempty"`
}

// AwakeCrawls are the crawls of a partition in which something is to happen yet.
type AwakeCrawls struct {
	Names []string `json:"names"`
	// Partial says that there are so many that some are left out.
	Partial bool `json:"partial,omitempty"`
}

// Counters count the URLs of a crawl in a partition, by where they stand.
type Counters struct {
	Queued   int64 `json:"queued"`
	InFlight int64 `json:"in_flight"`
	Waiting  int64 `json:"waiting"`
	Parsing  int64 `json:"parsing"`
	Done     int64 `json:"done"`
	Failed   int64 `json:"failed"`
	// Planned are those of Done and Failed that are to be visited again.
	Planned int64 `json:"planned,omitempty"`
	// Recrawling are those of the open ones whose visit rules of Spec.Recrawl have planned:
	// it belongs to no run.
	Recrawling int64 `json:"recrawling,omitempty"`
	// Run is the run of a crawl with a schedule: when it was due, Unix seconds.
	Run int64 `json:"run,omitempty"`
	// FailedBy are those of Failed by class, ParseFailed or HostGivenUp; Excluded is by reason.
	FailedBy map[string]int64 `json:"failed_by,omitempty"`
	Excluded map[string]int64 `json:"excluded,omitempty"`
	// LeftOut are those of Done of whose page no record was made because of a condition of the
	// spec, by its sort: one of messages.LeftOutReasons.
	LeftOut map[string]int64 `json:"left_out,omitempty"`
	// Pages were fetched and handed to the parser; Attempts are by class.
	Pages    int64                    `json:"pages"`
	Attempts map[messages.Class]int64 `json:"attempts,omitempty"`
	// Warnings are incomplete pages: rendered ones that were cut; sitemaps, feeds and files with errors.
	Warnings int64 `json:"warnings,omitempty"`
	// FailedLogins are requests that failed because of the login of rendered pages.
	FailedLogins int64 `json:"failed_logins,omitempty"`

	BytesWire int64 `json:"bytes_wire"`
	BytesBody int64 `json:"bytes_body"`
	// Started and Changed are when the first URL came and the last thing
	// happened, Unix ms.
	Started int64 `json:"started,omitempty"`
	Changed int64 `json:"changed,omitempty"`
}

// Pending is how many URLs something is still to happen to.
func (c *Counters) Pending() int64 { return c.Queued + c.InFlight + c.Waiting + c.Parsing }

// Known is how many URLs there are.
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

// CrawlStatus is how a crawl stands, over all partitions.
type CrawlStatus struct {
	Counters
	// Next is the host that is asked next, while all must wait.
	Next *HostStatus `json:"next,omitempty"`
	// LastFailure is the newest failed request, if its URL may be retried and the crawl
	// is not done.
	LastFailure *RequestFailure `json:"last_failure,omitempty"`
	// Unusable is why the newest spec that is stored for the crawl cannot be used, Stalled
	// says that none before it can be used either: nothing is sent until one is stored.
	Unusable string `json:"unusable_spec,omitempty"`
	Stalled  bool   `json:"stalled,omitempty"`
	// VisitingAll says that a run over everything has not come to all URLs yet.
	VisitingAll bool `json:"visiting_all,omitempty"`
}

// SameStates reports whether as many URLs are in each state, and as many pages came.
func (c *Counters) SameStates(o *Counters) bool {
	return c.Queued == o.Queued && c.InFlight == o.InFlight && c.Waiting == o.Waiting && c.Parsing == o.Parsing &&
		c.Done == o.Done && c.Failed == o.Failed && c.Pages == o.Pages && maps.Equal(c.Excluded, o.Excluded)
}

package frontier

import "seine/pkg/messages"

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
	// Warnings are pages that were read in part: sitemaps and feeds with errors.
	Warnings  int64 `json:"warnings,omitempty"`
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
	c.BytesWire += o.BytesWire
	c.BytesBody += o.BytesBody
	for k, v := range o.FailedBy {
		increase(&c.FailedBy, k, v)
	}
	for k, v := range o.Excluded {
		increase(&c.Excluded, k, v)
	}
	for k, v := range o.LeftOut {
		increase(&c.LeftOut, k, v)
	}
	for k, v := range o.Attempts {
		increase(&c.Attempts, k, v)
	}
	if o.Started > 0 && (c.Started == 0 || o.Started < c.Started) {
		c.Started = o.Started
	}
	c.Changed = max(c.Changed, o.Changed)
}

func increase[K comparable](m *map[K]int64, k K, by int64) {
	if *m == nil {
		*m = make(map[K]int64)
	}
	if (*m)[k] += by; (*m)[k] == 0 {
		delete(*m, k)
	}
}

// count adds by to the counters of the state that a URL is in.
func (c *Counters) count(r *urlRecord, by int64) {
	c.Recrawling += by * r.recrawling()
	switch r.State {
	case Queued:
		c.Queued += by
	case InFlight:
		c.InFlight += by
	case Waiting:
		c.Waiting += by
	case Parsing:
		c.Parsing += by
	case Done:
		c.Done += by
		if r.isLeftOut() {
			increase(&c.LeftOut, r.endedBy(), by)
		}
	case Failed:
		c.Failed += by
		increase(&c.FailedBy, r.failedBy(), by)
	case Excluded:
		increase(&c.Excluded, r.Reason, by)
	}
}

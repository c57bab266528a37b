// Package alerts decides from what is seen of a cluster what is wrong with a
// crawl, remembers it, and tells people of each change once.
//
// What is remembered of a crawl (State) is one key of BucketMeta, changed by
// compare-and-set by the leader (internal/ops/watchdog): so a restart neither
// repeats an alert nor forgets one, and of two that both believe to lead, one
// fails. A change goes into the outbox of the same key before it is posted, and
// out of it when the receiver has taken it: at least once, with an id to tell
// repeats by.
package alerts

import (
	"fmt"
	"hash/fnv"
	"time"
)

// Kind is what is wrong. There are few, so it may be a label of a metric.
type Kind string

// Kinds of alerts.
const (
	ErrorRate  Kind = "error_rate"
	NoProgress Kind = "no_progress"
	Lag        Kind = "lag"
	StreamFull Kind = "stream_full"
	Disk       Kind = "disk"
	Memory     Kind = "memory"

	DeadLetters Kind = "dead_letters"
	Yield       Kind = "yield"
	Blocked     Kind = "blocked"
	Login       Kind = "login"
)

// Kinds are all kinds.
var Kinds = []Kind{ErrorRate, NoProgress, Lag, StreamFull, Disk, Memory, DeadLetters, Yield, Blocked, Login}

// Alert is something that is wrong.
type Alert struct {
	ID    string `json:"id"`
	Crawl string `json:"crawl"`
	Kind  Kind   `json:"alert"`
	// Target says of what: a stage, a stream, a process, a disk, a kind of record; "" of
	// the crawl.
	Target string `json:"subject,omitempty"`
	// Since is when it was raised.
	Since time.Time `json:"since"`
	// Value is what was last seen, Threshold from where on it is too much. Times
	// are in seconds, sizes in bytes, parts from 0 to 1.
	Value     float64 `json:"value"`
	Threshold float64 `json:"threshold"`
	// Text says it to a person.
	Text string `json:"text"`
}

// Phase is what became of an alert.
type Phase string

// Phases.
const (
	Raised  Phase = "raised"
	Cleared Phase = "cleared"
)

// Change is that an alert was raised or cleared, as it is posted.
type Change struct {
	V int `json:"v"`
	// ID is unique to the change, and the same when it is posted again.
	ID    string    `json:"id"`
	Phase Phase     `json:"phase"`
	At    time.Time `json:"at"`
	Alert Alert     `json:"alert"`
}

func (a *Alert) change(p Phase, now time.Time) Change {
	return Change{V: 1, ID: a.ID + "." + string(p), Phase: p, At: now, Alert: *a}
}

// newID names an alert. Its subject may have any characters, so it is hashed.
func newID(crawl string, k Kind, subject string, since time.Time) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(subject))
	return fmt.Sprintf("%s.%s.%08x.%d", crawl, k, h.Sum32(), since.UnixMilli())
}

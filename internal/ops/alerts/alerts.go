// Package alerts derives the alerts of a crawl from observations of the cluster, remembers them,
// and reports each change once.
//
// The state of a crawl's alerts (State) is one key of BucketMeta, which the leader
// (internal/ops/watchdog) changes by compare-and-set. So a restart neither repeats nor forgets an
// alert, and of two processes that believe to be the leader, one fails. A change goes into the
// outbox in the same key before it is posted, and leaves it once the receiver has accepted it.
// Delivery is at least once, with an ID to detect repeats.
package alerts

import (
	"fmt"
	"hash/fnv"
	"time"
)

// Kind is the condition of an alert. The kinds are few, so that they can be labels of a metric.
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

// Kinds lists all kinds.
var Kinds = []Kind{ErrorRate, NoProgress, Lag, StreamFull, Disk, Memory, DeadLetters, Yield, Blocked, Login}

// Alert is a raised alert.
type Alert struct {
	ID    string `json:"id"`
	Crawl string `json:"crawl"`
	Kind  Kind   `json:"alert"`
	// Target is the affected part: a stage, a stream, a process, a disk, or a kind of record; ""
	// for the crawl.
	Target string `json:"subject,omitempty"`
	// Since is when the alert was raised.
	Since time.Time `json:"since"`
	// Value is the last observed value, Threshold the limit. Durations are in seconds, sizes in
	// bytes, shares from 0 to 1.
	Value     float64 `json:"value"`
	Threshold float64 `json:"threshold"`
	// Text is a description for people.
	Text string `json:"text"`
}

// Phase is the kind of a change.
type Phase string

// Phases.
const (
	Raised  Phase = "raised"
	Cleared Phase = "cleared"
)

// Change is a raised or cleared alert, as it is posted.
type Change struct {
	V int `json:"v"`
	// ID is unique to the change, and the same if it is posted again.
	ID    string    `json:"id"`
	Phase Phase     `json:"phase"`
	At    time.Time `json:"at"`
	Alert Alert     `json:"alert"`
}

func (a *Alert) change(p Phase, now time.Time) Change {
	return Change{V: 1, ID: a.ID + "." + string(p), Phase: p, At: now, Alert: *a}
}

// newID returns the ID of an alert. The subject may contain any characters, so it is hashed.
func newID(crawl string, k Kind, subject string, since time.Time) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(subject))
	return fmt.Sprintf("%s.%s.%08x.%d", crawl, k, h.Sum32(), since.UnixMilli())
}

package alerts

import (
	"time"

	"seine/internal/ops/procstats"
)

// Observation is what was seen of a cluster at a moment, and of one crawl.
type Observation struct {
	At time.Time
	// Every is the time between two observations: time beyond that is unwatched.
	Every time.Duration
	Crawl Progress
	// Stages, Streams and Processes are those of all crawls together.
	Stages    []Stage
	Streams   []Stream
	Processes []procstats.Process
}

// Progress is how a crawl gets on.
type Progress struct {
	// Over says that nothing more will happen without new seeds; Idle that
	// nothing is to: it is paused or cancelled.
	Over, Idle bool
	// Asked are requests for pages that have ended, Failed those of them that
	// failed, Blocked those in whose place a challenge came, Done visits that have ended,
	// all since the crawl began.
	Asked, Failed, Blocked, Done int64
	// FailedLogins are those of Failed whose login failed.
	FailedLogins int64
	// Busy says what could be done now, "" if there is nothing, or all waits for
	// its time.
	Busy string
	// Dead are the dead letters of the crawl, by stage.
	Dead map[string]uint64
	// Runs are those that have ended, the newest first, nil if they are not known yet;
	// Kinds are the kinds of record that the spec names.
	Runs  []Run
	Kinds []string
	// Counting says by which keys of the spec a page makes a record or none: runs under
	// others are not to be compared.
	Counting string
	// Unknown is why none of this could be learnt, "" if it could.
	Unknown string
}

// Run is what a run that has ended has made.
type Run struct {
	Started time.Time
	Records map[string]int64 // by kind
	// Pages were parsed; of those Unchanged, as by a 304, nothing was made again.
	Pages, Unchanged int64
}

// Stage is how much waits for a stage.
type Stage struct {
	Name    string
	Waiting uint64
	Oldest  time.Time // when the oldest of that was stored; zero if nothing waits
}

// Stream is how full a stream is.
type Stream struct {
	Name         string
	Bytes, Limit int64 // a limit of 0 is none
}

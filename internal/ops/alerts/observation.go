package alerts

import (
	"time"

	"seine/internal/ops/procstats"
)

// Observation is the state of the cluster and of one crawl at one time.
type Observation struct {
	At time.Time
	// Every is the interval between observations. A longer gap is unobserved time.
	Every time.Duration
	Crawl Progress
	// Stages, Streams and Processes are those of the whole cluster.
	Stages    []Stage
	Streams   []Stream
	Processes []procstats.Process
}

// Progress is the progress of a crawl.
type Progress struct {
	// Over is set if the crawl has no work without new seeds, Idle if it is paused or cancelled.
	Over, Idle bool
	// Asked counts ended requests for pages, Failed those that failed, Blocked those that got a
	// challenge, and Done the ended visits, all since the beginning of the crawl.
	Asked, Failed, Blocked, Done int64
	// FailedLogins counts the requests of Failed whose login failed.
	FailedLogins int64
	// Busy describes the work that could be done now. It is "" if there is none or all of it must
	// wait.
	Busy string
	// Dead counts the dead letters of the crawl by stage.
	Dead map[string]uint64
	// Runs are the ended runs, the newest first, nil if they are unknown. Kinds are the kinds of
	// record that the spec names.
	Runs  []Run
	Kinds []string
	// Counting identifies the keys of the spec that decide whether a page makes a record. Runs with
	// different values are not comparable.
	Counting string
	// Unknown is the reason why the progress is unknown, "" if it is known.
	Unknown string
}

// Run is the yield of an ended run.
type Run struct {
	Started time.Time
	Records map[string]int64 // by kind
	// Pages counts parsed pages. Unchanged counts pages that made no new record, for example after
	// a 304.
	Pages, Unchanged int64
}

// Stage is the backlog of a stage.
type Stage struct {
	Name    string
	Waiting uint64
	Oldest  time.Time // when the oldest waiting message was stored; zero if none waits
}

// Stream is the size of a stream.
type Stream struct {
	Name         string
	Bytes, Limit int64 // a limit of 0 means unlimited
}

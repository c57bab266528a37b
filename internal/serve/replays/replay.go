package replays

import (
	"context"
	"time"

	"seine/internal/run/replay"
)

// Job is the stored state of a replay: the request and the result.
type Job struct {
	ID    string `json:"id"`
	Crawl string `json:"crawl"`
	Request
	Spec    string    `json:"spec,omitempty" doc:"What pages are parsed by, if not by the spec of the crawl."`
	By      string    `json:"by" doc:"Who has begun it."`
	Created time.Time `json:"created"`
	// Ended is zero while the replay is unfinished.
	Ended time.Time `json:"ended,omitzero"`
	Error string    `json:"error,omitempty" doc:"Why it has failed."`
	// Dropped is set if the streams for a resume were removed.
	Dropped bool `json:"dropped,omitempty" doc:"It cannot be resumed: newer ones have failed since."`
	// Report has the counts received so far.
	Report *replay.Report `json:"report,omitempty"`
}

// State is the state of a replay.
type State string

// States.
const (
	Queued      State = "queued"  // waits for earlier replays
	Running     State = "running" // it reads and writes
	Waiting     State = "waiting" // its source is unavailable
	Interrupted State = "interrupted"
	Complete    State = "complete"
	Failed      State = "failed"
)

// Replay is a replay with its state.
type Replay struct {
	Job
	State State  `json:"state" enum:"queued,running,waiting,interrupted,complete,failed" doc:"One replay runs at a time. waiting: what it reads is away now; interrupted: this server runs no replays."`
	Waits string `json:"waits,omitempty" doc:"Why it waits."`
	Out   string `json:"out,omitempty" doc:"Folder of the files, on the machine of the server."`
	// OtherSpec is also set in lists, which omit the spec.
	OtherSpec bool             `json:"other_spec" doc:"Whether it has a spec of its own."`
	Progress  *replay.Progress `json:"progress,omitempty"`
}

// task is a replay in this server. The service's lock guards it.
type task struct {
	Job
	cancel   context.CancelFunc // nil while it does not run
	ended    chan struct{}      // closed when it has stopped
	waits    string
	progress *replay.Progress
}

// status returns the state of a replay. The caller holds the lock.
func (s *Service) status(j *task) Replay {
	st := Replay{Job: j.Job, Waits: j.waits, Progress: j.progress, OtherSpec: j.Spec != ""}
	if st.To != ToRecords {
		st.Out = s.folderOf(&st.Job)
	}
	switch {
	case st.Error != "":
		st.State = Failed
	case !st.Ended.IsZero():
		st.State = Complete
	case s.Off:
		st.State = Interrupted
	case j.cancel == nil:
		st.State = Queued
	case j.waits != "":
		st.State = Waiting
	default:
		st.State = Running
	}
	return st
}

// record records the progress of a replay, or why it waits.
func (s *Service) record(j *task, p *replay.Progress, waits string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j.waits = waits
	if p != nil {
		j.progress = p
	}
}

// stopped records that a replay has stopped.
func (s *Service) stopped(j *task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j.cancel()
	close(j.ended)
	j.cancel, j.waits, j.progress = nil, "", nil
}

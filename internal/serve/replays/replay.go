package replays

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"seine/internal/run/replay"
)

// Job is a replay as it is stored: what was asked for, and how it has ended.
type Job struct {
	ID    string `json:"id"`
	Crawl string `json:"crawl"`
	Request
	Spec    string    `json:"spec,omitempty" doc:"What pages are parsed by, if not by the spec of the crawl."`
	By      string    `json:"by" doc:"Who has begun it."`
	Created time.Time `json:"created"`
	// Ended is zero while there is something to do.
	Ended time.Time `json:"ended,omitzero"`
	Error string    `json:"error,omitempty" doc:"Why it has failed."`
	// Dropped says that the streams are removed from which a failed one would be resumed.
	Dropped bool `json:"dropped,omitempty" doc:"It cannot be resumed: newer ones have failed since."`
	// Report has its counts, as far as received.
	Report *replay.Report `json:"report,omitempty"`
}

// State is how a replay stands.
type State string

// States.
const (
	Queued      State = "queued"  // others go before
	Running     State = "running" // it reads and writes
	Waiting     State = "waiting" // what it reads is away
	Interrupted State = "interrupted"
	Complete    State = "complete"
	Failed      State = "failed"
)

// Progress is how far a replay is that runs.
type Progress struct {
	Done        int64   `json:"done" doc:"Messages that are read and done with."`
	Chosen      int64   `json:"chosen,omitempty" doc:"Of so many; absent while that is not known."`
	PerSecond   float64 `json:"per_second"`
	Records     int64   `json:"records"`
	DeadLetters int64   `json:"dead_letters"`
	SecondsLeft float64 `json:"seconds_left,omitempty" doc:"At this rate; absent if that is not known."`
}

// Replay is one, and how it stands.
type Replay struct {
	Job
	State State  `json:"state" enum:"queued,running,waiting,interrupted,complete,failed" doc:"One replay runs at a time. waiting: what it reads is away now; interrupted: this server runs no replays."`
	Waits string `json:"waits,omitempty" doc:"Why it waits."`
	Out   string `json:"out,omitempty" doc:"Folder of the files, on the machine of the server."`
	// OtherSpec is told in lists, too, where the spec is not.
	OtherSpec bool      `json:"other_spec" doc:"Whether it has a spec of its own."`
	Progress  *Progress `json:"progress,omitempty"`
}

// task is a replay in the life of this server.
type task struct {
	job atomic.Pointer[Job] // nobody changes it

	mu       sync.Mutex
	cancel   context.CancelFunc // nil while it does not run
	ended    chan struct{}      // closed when it runs no more
	waits    string
	progress *Progress
}

func newTask(r Job) *task {
	j := new(task)
	j.job.Store(&r)
	return j
}

// status is how it stands. Runs says that this server runs replays.
func (j *task) status(runs bool) Replay {
	j.mu.Lock()
	defer j.mu.Unlock()
	st := Replay{Job: *j.job.Load(), Waits: j.waits, Progress: j.progress}
	st.OtherSpec = st.Spec != ""
	switch {
	case st.Error != "":
		st.State = Failed
	case !st.Ended.IsZero():
		st.State = Complete
	case !runs:
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

// saw takes in how far it is.
func (j *task) saw(p replay.Progress) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.waits = ""
	j.progress = &Progress{p.Done, p.Chosen, p.Rate, p.Records, p.Dead, p.Left.Seconds()}
}

// wait takes in why it does not go on now.
func (j *task) wait(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.waits = err.Error()
}

// begin marks that it runs, until it is stopped.
func (j *task) begin(ctx context.Context) context.Context {
	j.mu.Lock()
	defer j.mu.Unlock()
	ctx, j.cancel = context.WithCancel(ctx)
	j.ended = make(chan struct{})
	return ctx
}

// stop marks that it runs no more.
func (j *task) stop() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.cancel()
	close(j.ended)
	j.cancel, j.waits, j.progress = nil, "", nil
}

// interrupt has it stop, and waits for that.
func (j *task) interrupt() {
	j.mu.Lock()
	cancel, ended := j.cancel, j.ended
	j.mu.Unlock()
	if cancel != nil {
		cancel()
		<-ended
	}
}

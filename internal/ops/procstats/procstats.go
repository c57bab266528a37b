// Package procstats reports the processes of a cluster: their memory, and the
// disks that they keep something on. Each answers for itself, over NATS; no other
// process can know.
package procstats

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nuid"

	"seine/internal/base/jsontext"
	"seine/internal/base/procfs"
	"seine/internal/base/procname"
	"seine/internal/base/truncate"
	"seine/pkg/stages"
)

// Subject is where all processes are asked.
const Subject = "seine.vitals"

// Process is how a process is.
type Process struct {
	// ID tells it from all others, earlier ones of its machine too.
	ID    string `json:"id,omitempty"`
	Stage string `json:"stage"` // frontier, fetcher, renderer, parser, writer NAME, crawl
	Host  string `json:"host"`
	PID   int    `json:"pid"`
	// Resident is the memory that it has, Limit what it may have: that of its
	// container, or all there is. In bytes; 0 where it is unknown.
	Resident int64  `json:"resident"`
	Limit    int64  `json:"limit"`
	Disks    []Disk `json:"disks,omitempty"`
	// Unready is what keeps it from its work, as its /readyz says; "" if nothing does.
	Unready string `json:"unready,omitempty"`
	// Waits is what has to wait while the process does its work, as a view that a reader of the database locks; "" if
	// nothing does.
	Waits string `json:"waits,omitempty"`
	// Drains says that it ends by Drain; one that is a whole crawl is ended where it runs.
	Drains bool `json:"drains,omitempty"`
	// Draining says that it takes nothing new, and ends when it has finished what it has.
	Draining bool `json:"draining,omitempty"`
}

// maxUnready bounds Unready and Waits, in bytes.
const maxUnready = 1 << 10

// Name tells a process from others.
func (p *Process) Name() string { return fmt.Sprintf("%s %s-%d", p.Stage, p.Host, p.PID) }

// Disk is how the disk is that a process keeps something on.
type Disk struct {
	Name   string `json:"name"` // what: state, out, data, archive; no two of a process have the same
	Path   string `json:"path"`
	Device string `json:"device"` // the same for two places on one disk
	Free   int64  `json:"free"`   // in bytes, for this user
	Size   int64  `json:"size"`
}

// Reporter is this process. It is safe for concurrent use.
type Reporter struct {
	limit int64
	id    string

	mu       sync.Mutex
	stage    string
	disks    []watchedDir
	ready    func() error
	waits    []func() string
	drain    func()
	draining bool
}

// watchedDir is a directory that is watched.
type watchedDir struct{ name, path string }

// NewReporter returns this process as one of a stage.
func NewReporter(stage string) *Reporter {
	return &Reporter{stage: stage, limit: memoryLimit(), id: nuid.Next()}
}

// Rename adds what tells a stage from others of its kind: the name of a writer.
func (s *Reporter) Rename(stage string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stage = stage
}

// AddDisk has the disk of a directory told of. Name says what is there.
func (s *Reporter) AddDisk(name, path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.disks = append(s.disks, watchedDir{name, path})
}

// ReadyBy has what a check says told of: stages.Health.Err.
func (s *Reporter) ReadyBy(check func() error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ready = check
}

// WaitsBy adds what a check returns to Process.Waits.
func (s *Reporter) WaitsBy(check func() string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waits = append(s.waits, check)
}

// Now returns how the process is.
func (s *Reporter) Now() Process {
	s.mu.Lock()
	defer s.mu.Unlock()
	host, _, _ := strings.Cut(procname.Host(), ".")
	p := Process{Stage: s.stage, Host: host, PID: os.Getpid(), Resident: procfs.Resident(os.Getpid()), Limit: s.limit}
	p.ID, p.Drains, p.Draining = s.id, s.drain != nil, s.draining
	if s.ready != nil {
		if err := s.ready(); err != nil {
			p.Unready = truncate.To(strings.ReplaceAll(err.Error(), "\n", "; "), maxUnready)
		}
	}
	for _, waits := range s.waits {
		p.Waits = cmp.Or(p.Waits, truncate.To(waits(), maxUnready))
	}
	for _, d := range s.disks {
		if at, err := diskOf(d.path); err == nil {
			at.Name, at.Path = d.name, d.path
			p.Disks = append(p.Disks, at)
		}
	}
	return p
}

// Serve answers queries for this process, and requests to drain it if it can, until the connection is
// closed.
func (s *Reporter) Serve(nc *nats.Conn, log *slog.Logger) error {
	if _, err := nc.Subscribe(Subject, func(m *nats.Msg) { s.answer(m, log) }); err != nil {
		return fmt.Errorf("publish the statistics of this process: %w", err)
	}
	return s.serveDrain(nc, log)
}

// answer reports the process.
func (s *Reporter) answer(m *nats.Msg, log *slog.Logger) {
	text, err := json.Marshal(s.Now())
	if err == nil {
		err = m.Respond(text)
	}
	if err != nil {
		log.Debug("cannot publish the statistics of this process", "error", err)
	}
}

// Collect asks all processes, and takes a silence for the end.
func Collect(ctx context.Context, nc *nats.Conn) ([]Process, error) {
	var all []Process
	err := stages.ScatterGather(ctx, nc, Subject, nil, func(data []byte) {
		var p Process
		if jsontext.Unmarshal(data, &p) == nil {
			all = append(all, p)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("ask how the processes are: %w", err)
	}
	slices.SortFunc(all, func(a, b Process) int { return strings.Compare(a.Name(), b.Name()) })
	return all, nil
}

// Package procstats reports the memory and the disks of the processes in a cluster. Each process
// answers requests over NATS for itself, because no other process can know.
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

// Subject is the subject for requests to all processes.
const Subject = "seine.vitals"

// Process is the state of a process.
type Process struct {
	// ID is unique among all processes, including earlier ones on the same machine.
	ID    string `json:"id,omitempty"`
	Stage string `json:"stage"` // frontier, fetcher, renderer, parser, writer NAME, crawl
	Host  string `json:"host"`
	PID   int    `json:"pid"`
	// Resident is the process's memory, Limit the limit of its container or the machine's memory.
	// Both are in bytes, 0 if unknown.
	Resident int64  `json:"resident"`
	Limit    int64  `json:"limit"`
	Disks    []Disk `json:"disks,omitempty"`
	// Unready is the reason why the process cannot work, as in its /readyz; "" if it can.
	Unready string `json:"unready,omitempty"`
	// Waits describes postponed work of a process that otherwise works, for example a view that a
	// database reader locks; "" if there is none.
	Waits string `json:"waits,omitempty"`
	// Drains is set if Drain works. A whole crawl in one process must be stopped on its machine.
	Drains bool `json:"drains,omitempty"`
	// Draining is set if the process accepts no new work and exits after its in-flight work.
	Draining bool `json:"draining,omitempty"`
}

// maxUnready bounds Unready and Waits, in bytes.
const maxUnready = 1 << 10

// Name identifies the process among those that run.
func (p *Process) Name() string { return fmt.Sprintf("%s %s-%d", p.Stage, p.Host, p.PID) }

// Disk is a disk that a process writes to.
type Disk struct {
	Name   string `json:"name"` // state, out, data or archive; unique within a process
	Path   string `json:"path"`
	Device string `json:"device"` // the same for two paths on one disk
	Free   int64  `json:"free"`   // in bytes, for this user
	Size   int64  `json:"size"`
}

// Reporter reports this process. It is safe for concurrent use.
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

// watchedDir is a directory whose disk is reported.
type watchedDir struct{ name, path string }

// NewReporter returns a reporter for a process of a stage.
func NewReporter(stage string) *Reporter {
	return &Reporter{stage: stage, limit: memoryLimit(), id: nuid.Next()}
}

// Rename replaces the stage, for example to add the name of a writer.
func (s *Reporter) Rename(stage string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stage = stage
}

// AddDisk reports the disk of a directory. name is its purpose.
func (s *Reporter) AddDisk(name, path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.disks = append(s.disks, watchedDir{name, path})
}

// ReadyBy sets the readiness check: stages.Health.Err.
func (s *Reporter) ReadyBy(check func() error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ready = check
}

// WaitsBy adds a check for Process.Waits.
func (s *Reporter) WaitsBy(check func() string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waits = append(s.waits, check)
}

// Now returns the current state of the process.
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

// Serve answers requests about this process and, if it can be drained, drain requests, until the
// connection is closed.
func (s *Reporter) Serve(nc *nats.Conn, log *slog.Logger) error {
	if _, err := nc.Subscribe(Subject, func(m *nats.Msg) { s.answer(m, log) }); err != nil {
		return fmt.Errorf("publish the statistics of this process: %w", err)
	}
	return s.serveDrain(nc, log)
}

// answer replies with the state of the process.
func (s *Reporter) answer(m *nats.Msg, log *slog.Logger) {
	text, err := json.Marshal(s.Now())
	if err == nil {
		err = m.Respond(text)
	}
	if err != nil {
		log.Debug("cannot publish the statistics of this process", "error", err)
	}
}

// Collect requests the state of all processes. It returns when replies cease to arrive.
func Collect(ctx context.Context, nc *nats.Conn) ([]Process, error) {
	var all []Process
	err := stages.ScatterGather(ctx, nc, Subject, nil, func(data []byte) {
		var p Process
		if jsontext.Unmarshal(data, &p) == nil {
			all = append(all, p)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("collect the state of processes: %w", err)
	}
	slices.SortFunc(all, func(a, b Process) int { return strings.Compare(a.Name(), b.Name()) })
	return all, nil
}

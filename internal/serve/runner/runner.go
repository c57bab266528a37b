// Package runner runs the crawls of a directory in the server while no seine crawl does, so that a
// page or the API can start a crawl.
//
// It starts or resumes crawls on request. It runs one seine crawl at a time, which works on all
// crawls of the directory. When that has ended, it checks for another crawl with work.
package runner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"seine/internal/base/sleep"
	"seine/internal/ops/lookup"
	"seine/internal/ops/overview"
	"seine/internal/run/crawl"
	"seine/internal/serve/cluster"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/frontier/frontierapi"
)

// ErrRunning is returned by Start while a crawl runs, which works on all stored crawls.
var ErrRunning = errors.New("a crawl runs already")

// Runner runs crawls. It does nothing before Run.
type Runner struct {
	// Options returns the options of a seine crawl with a name, without spec and seeds.
	Options func(name string) (crawl.Options, error)
	Cluster *cluster.Cluster
	Log     *slog.Logger

	crawl.Flusher
	starts chan *start
	wakes  chan string
}

// New returns a runner.
func New(c *cluster.Cluster, options func(string) (crawl.Options, error), log *slog.Logger) *Runner {
	return &Runner{Options: options, Cluster: c, Log: log, starts: make(chan *start), wakes: make(chan string, 100)}
}

// start is a request to start a crawl, or to resume it if spec is nil.
type start struct {
	crawl string
	spec  *crawlspec.Spec
	seeds []messages.Seed
	begun chan error
}

// Intervals.
const (
	takeTime  = 2 * time.Second // for a runner between two crawls
	beginPoll = 20 * time.Millisecond
	retryWait = 200 * time.Millisecond // a crawl that has just ended is still releasing its server
)

// Start starts a crawl, and returns when the cluster knows it, or an error.
func (r *Runner) Start(ctx context.Context, name string, spec *crawlspec.Spec, seeds []messages.Seed) error {
	s := &start{crawl: name, spec: spec, seeds: seeds, begun: make(chan error, 1)}
	select {
	case r.starts <- s:
	case <-time.After(takeTime):
		return ErrRunning
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-s.begun:
		if err != nil {
			return fmt.Errorf("begin crawl %s: %w", name, err)
		}
	case <-ctx.Done():
		return ctx.Err()
	}
	return r.awaitKnown(ctx, name)
}

// awaitKnown waits until the spec or the seeds of a started crawl are stored.
func (r *Runner) awaitKnown(ctx context.Context, name string) error {
	for {
		err := r.Cluster.Do(ctx, func(ctx context.Context, bus *stages.Bus) error { return lookup.Crawl(ctx, bus, name) })
		if err == nil {
			return nil
		}
		if sleep.For(ctx, beginPoll) != nil {
			return err
		}
	}
}

// Resume soon checks whether an idle crawl has work: the named one, which just got seeds or a
// change, or any for "".
func (r *Runner) Resume(crawl string) {
	select {
	case r.wakes <- crawl:
	default: // enough checks are pending
	}
}

// Run works until ctx is done.
func (r *Runner) Run(ctx context.Context) {
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case s := <-r.starts:
			r.work(ctx, s)
		case also := <-r.wakes:
			if name := r.unfinished(ctx, also); name != "" {
				r.work(ctx, &start{crawl: name, begun: make(chan error, 1)})
			}
		}
	}
}

// work runs a seine crawl until it ends.
func (r *Runner) work(ctx context.Context, s *start) {
	o, err := r.Options(s.crawl)
	if err != nil {
		s.begun <- err
		return
	}
	remember := o.Opened
	o.Opened = func() error {
		if err := remember(); err != nil {
			return err
		}
		s.begun <- nil
		return nil
	}
	o.Seeds, o.Log, o.Others, o.Flusher = s.seeds, r.Log, r.running, &r.Flusher
	o.Spec = func(have crawlspec.Spec) (*crawlspec.Spec, error) {
		if s.spec == nil {
			return &have, have.Validate()
		}
		return s.spec, nil
	}
	r.Cluster.GiveWay()
	summary, err := crawl.Run(ctx, o)
	if err != nil {
		select {
		case s.begun <- err: // the crawl never began
		default:
			r.Log.Error("a crawl failed", "crawl", s.crawl, "error", err)
		}
		return
	}
	r.Log.Info("a crawl ended", "crawl", s.crawl, "outcome", summary.Outcome)
	if s.crawl != r.unfinished(ctx, "") { // otherwise it would end again at once
		r.Resume("")
	}
}

// unfinished returns an idle crawl with work, "" if there is none. It also considers the crawl
// also, which just got seeds that the frontier may not have read.
func (r *Runner) unfinished(ctx context.Context, also string) (name string) {
	if r.Cluster.Mode(ctx) != cluster.Stored {
		return ""
	}
	all, err := r.withWork(ctx, also)
	if err != nil && sleep.For(ctx, retryWait) == nil {
		r.Log.Debug("cannot determine yet whether a crawl must be resumed", "error", err)
		r.Resume(also)
	}
	if len(all) > 0 {
		name = all[0]
	}
	return name
}

// running returns the crawls that have work.
func (r *Runner) running(ctx context.Context) ([]string, error) { return r.withWork(ctx, "") }

// withWork returns the running crawls that have work. also is a crawl that the frontier may not
// know yet.
func (r *Runner) withWork(ctx context.Context, also string) (all []string, err error) {
	err = r.Cluster.Do(ctx, func(ctx context.Context, bus *stages.Bus) error {
		names, err := frontierapi.Client{Bus: bus}.Awake(ctx)
		if err != nil {
			return err
		}
		if also != "" {
			names = append(names, also)
		}
		crawls, err := overview.Crawls(ctx, bus, names...)
		for i := range crawls {
			if c := &crawls[i]; c.Problem == "" && c.State == overview.Running {
				all = append(all, c.Name)
			}
		}
		return err
	})
	return all, err
}

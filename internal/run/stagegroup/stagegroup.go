// Package stagegroup runs several stages in one process, and stops them in the order of the
// pipeline: first those that hand on what they hold, then those that get it.
package stagegroup

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// failedGrace is how long stages may take to stop when what they do has failed: what stops
// that may keep them from draining as well. Nothing that was acknowledged
// depends on it.
const failedGrace = 2 * time.Second

// Group is stages that run. If one returns an error, all are stopped.
type Group struct {
	stages      *errgroup.Group
	ctx         context.Context
	early, late context.Context
	stopEarly   context.CancelFunc
	stopLate    context.CancelFunc
	senders     sync.WaitGroup
}

// New returns a group without stages. They have the values of ctx, but outlive it: Stop
// ends them.
func New(ctx context.Context) *Group {
	g := new(Group)
	g.stages, g.ctx = errgroup.WithContext(context.WithoutCancel(ctx))
	g.early, g.stopEarly = context.WithCancel(g.ctx)
	g.late, g.stopLate = context.WithCancel(g.ctx)
	return g
}

// Context is done when a stage has failed.
func (g *Group) Context() context.Context { return g.ctx }

// GoSender starts a stage that hands on what it holds to others of the group when it stops.
func (g *Group) GoSender(run func(context.Context) error) {
	g.senders.Add(1)
	g.stages.Go(func() error { defer g.senders.Done(); return run(g.early) })
}

// Go starts a stage that stops when all senders have.
func (g *Group) Go(run func(context.Context) error) {
	g.stages.Go(func() error { return run(g.late) })
}

// StopSenders stops the senders, and returns when they have published what they hold.
func (g *Group) StopSenders() {
	g.stopEarly()
	g.senders.Wait()
}

// Stop stops the stages, and returns the error of the one that failed. It waits for all of
// them, or if what they do has failed, for two seconds: then it reports that they have not
// stopped.
func (g *Group) Stop(failed bool) (stopped bool, err error) {
	ended := make(chan error, 1)
	go func() {
		g.StopSenders()
		g.stopLate()
		ended <- g.stages.Wait()
	}()
	var cut <-chan time.Time
	if failed {
		cut = time.After(failedGrace)
	}
	select {
	case err := <-ended:
		if errors.Is(err, context.Canceled) {
			err = nil
		}
		return true, err
	case <-cut:
		return false, nil
	}
}

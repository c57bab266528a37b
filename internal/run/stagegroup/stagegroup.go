// Package stagegroup runs several stages in one process, and stops them in pipeline order: first
// the senders, then the stages that receive from them.
package stagegroup

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// failedGrace bounds the shutdown after a failure, because the cause may also keep stages from
// draining. No acknowledged message depends on a clean shutdown.
const failedGrace = 2 * time.Second

// Group is a set of running stages. If one returns an error, all are stopped.
type Group struct {
	stages      *errgroup.Group
	ctx         context.Context
	early, late context.Context
	stopEarly   context.CancelFunc
	stopLate    context.CancelFunc
	senders     sync.WaitGroup
}

// New returns a group without stages. The stages have the values of ctx but not its cancellation:
// Stop ends them.
func New(ctx context.Context) *Group {
	g := new(Group)
	g.stages, g.ctx = errgroup.WithContext(context.WithoutCancel(ctx))
	g.early, g.stopEarly = context.WithCancel(g.ctx)
	g.late, g.stopLate = context.WithCancel(g.ctx)
	return g
}

// Context is done when a stage has failed.
func (g *Group) Context() context.Context { return g.ctx }

// GoSender starts a stage that publishes its in-flight work to other stages of the group when it
// stops.
func (g *Group) GoSender(run func(context.Context) error) {
	g.senders.Add(1)
	g.stages.Go(func() error { defer g.senders.Done(); return run(g.early) })
}

// Go starts a stage that stops after all senders.
func (g *Group) Go(run func(context.Context) error) {
	g.stages.Go(func() error { return run(g.late) })
}

// StopSenders stops the senders, and returns when they have published their in-flight work.
func (g *Group) StopSenders() {
	g.stopEarly()
	g.senders.Wait()
}

// Stop stops the stages, and returns the error of the one that failed. If failed is set, it waits
// for failedGrace at most; stopped is then false if a stage still runs.
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

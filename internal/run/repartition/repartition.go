package repartition

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nuid"

	"seine/internal/base/progress"
	"seine/internal/run/works"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/frontier"
	"seine/pkg/stages/frontier/state"
	"seine/pkg/stages/partition"
)

// owner is who has the leases meanwhile: the same after a restart, so that nobody waits for the
// leases of a process that was killed.
const owner = "repartition"

// Errors of a change.
var (
	// ErrBlocked says what must be over first.
	ErrBlocked = errors.New("the number of partitions cannot be changed now")
	// ErrOther is returned where a change to another number was begun.
	ErrOther = errors.New("a change to another number of partitions was begun")
	// ErrBegun is returned by Abandon once a change can only go on.
	ErrBegun = errors.New("the change can no longer be abandoned")
)

// Change is a change of the number of partitions.
type Change struct {
	Bus *stages.Bus
	// To is the number that there are to be, from 1 to messages.MaxPartitions.
	To int
	// Dir is where the state is made, a folder of its own: one that has anything else is
	// refused. It is removed at the end.
	Dir string
	Log *slog.Logger
	// Progress is told what is being done.
	Progress progress.Func
	// At is called after each step, for tests to end there.
	At func(step string) error
}

// Report is what a change has done, or would do.
type Report struct {
	From int `json:"from"`
	To   int `json:"to"`
	// URLs and Hosts are those of all crawls, Moved the URLs whose partition is another.
	URLs  int64 `json:"urls"`
	Moved int64 `json:"moved"`
	Hosts int64 `json:"hosts"`
	Keys  int64 `json:"keys"`
	// Least and Most are the URLs of the smallest and of the largest of the new partitions.
	Least int64 `json:"least"`
	Most  int64 `json:"most"`
	// Bytes are those of the new snapshots.
	Bytes int64         `json:"snapshot_bytes,omitempty"`
	Took  time.Duration `json:"took_ns"`
	// Blockers are what is in the way of it, of a dry run.
	Blockers []string `json:"blockers,omitempty"`
}

// steps of a change, in order: see Change.At.
const (
	stepBegun     = "begun"
	stepRead      = "read"
	stepCopied    = "copied"
	stepStored    = "stored"
	stepDecided   = "decided"
	stepInstalled = "installed"
	stepBudgets   = "budgets"
	stepPurged    = "purged"
	stepLaidOut   = "laid out"
)

func (c *Change) at(step string) error {
	if c.At == nil {
		return nil
	}
	return c.At(step)
}

// validate reports what is wrong with To.
func (c *Change) validate() error {
	if c.To < 1 || c.To > messages.MaxPartitions {
		return fmt.Errorf("--to %d: must be from 1 to %d", c.To, messages.MaxPartitions)
	}
	return nil
}

// Run changes the number, or goes on with a change to it that was interrupted. It returns nil
// where there are so many already.
func (c *Change) Run(ctx context.Context) (out *Report, err error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	err = works.Do(ctx, c.Bus, works.Repartition, func(ctx context.Context) (err error) {
		out, err = c.run(ctx)
		return err
	})
	return out, err //nolint:wrapcheck // says all
}

func (c *Change) run(ctx context.Context) (out *Report, err error) {
	layout, err := c.layout(ctx)
	if err != nil {
		return nil, err
	}
	j, err := readJournal(ctx, c.Bus)
	if err == nil && j != nil && j.Phase == phaseSwitch && layout.Moving == 0 {
		err, j = j.remove(ctx, c.Bus), nil // the process was killed at the very end
	}
	switch {
	case err != nil:
		return nil, err
	case j != nil && j.To != c.To:
		return nil, fmt.Errorf("%w: to %d, from %d: continue it (--to %d) or abandon it (--abandon)", ErrOther, j.To, j.From, j.To)
	case layout.Partitions == c.To && layout.Moving == 0:
		return nil, c.removeDir()
	}
	if j == nil || j.Phase == phaseCopy {
		if err := c.checkBlockers(ctx); err != nil {
			return nil, err
		}
	}
	began := time.Now()
	err = c.owning(ctx, max(layout.Lanes(), c.To), func(ctx context.Context, epochs []uint64) error {
		out, err = c.change(ctx, layout, j, epochs)
		return err
	})
	if err == nil {
		out.Took = time.Since(began)
		err = c.removeDir()
	}
	return out, err
}

// layout reads the layout, and has the bus go by it.
func (c *Change) layout(ctx context.Context) (messages.Layout, error) {
	l, err := c.Bus.Existing(ctx)
	if err != nil {
		return l, fmt.Errorf("no Seine streams: %w", err)
	}
	if l.V != messages.Version {
		return l, fmt.Errorf("the streams have wire version %d, this build speaks %d", l.V, messages.Version)
	}
	c.Bus.Layout = l
	return l, nil
}

func (c *Change) change(ctx context.Context, layout messages.Layout, j *journal, epochs []uint64) (*Report, error) {
	out := &Report{From: layout.Partitions, To: c.To}
	if j == nil || j.Phase == phaseCopy {
		var err error
		if j, err = c.prepare(ctx, layout, j, epochs, out); err != nil {
			return nil, err
		}
	}
	out.From = j.From
	return out, c.switchOver(ctx, j)
}

// DryRun says what Run would do, and changes nothing but Dir. Stages may run meanwhile.
func (c *Change) DryRun(ctx context.Context) (*Report, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	layout, err := c.layout(ctx)
	if err != nil {
		return nil, err
	}
	out := &Report{From: layout.Partitions, To: c.To}
	if out.Blockers, err = Blockers(ctx, c.Bus); err != nil {
		return nil, err
	}
	old, _, err := c.rebuild(ctx, layout.Partitions, false)
	if err != nil {
		return nil, err
	}
	r := &state.Repartitioning{From: old, Partitions: [2]int{layout.Partitions, c.To}, Clock: frontier.SystemClock()}
	moved, err := r.Count(ctx)
	if err = errors.Join(err, old.Close()); err != nil {
		return nil, err
	}
	out.takeMoved(moved)
	return out, c.removeDir()
}

func (out *Report) takeMoved(m *state.Moved) {
	out.URLs, out.Moved, out.Hosts, out.Keys = m.URLs, m.Moves, m.Hosts, m.Keys
	out.Least = math.MaxInt64
	for _, n := range m.PerPartition {
		out.Least, out.Most = min(out.Least, n), max(out.Most, n)
	}
}

// Abandon gives up a change that has not come to where it can only go on.
func (c *Change) Abandon(ctx context.Context) error {
	return works.Do(ctx, c.Bus, works.Repartition, c.abandon) //nolint:wrapcheck // says all
}

func (c *Change) abandon(ctx context.Context) error {
	layout, err := c.layout(ctx)
	if err != nil {
		return err
	}
	j, err := readJournal(ctx, c.Bus)
	switch {
	case err != nil:
		return err
	case j != nil && j.Phase != phaseCopy:
		return fmt.Errorf("%w: continue it (--to %d)", ErrBegun, j.To)
	case j == nil && layout.Moving == 0:
		return nil
	}
	lanes := layout.Lanes()
	if j != nil {
		lanes = max(lanes, j.To)
	}
	return c.owning(ctx, lanes, func(ctx context.Context, epochs []uint64) error {
		if err := c.sweep(ctx, epochs); err != nil {
			return err
		}
		if err := c.Bus.ChangeLayout(ctx, func(l *messages.Layout) { l.Moving = 0 }); err != nil {
			return err
		}
		if j != nil {
			if err := j.remove(ctx, c.Bus); err != nil {
				return err
			}
		}
		return c.removeDir()
	})
}

// sweep removes what an attempt has left that did not come to its end.
func (c *Change) sweep(ctx context.Context, epochs []uint64) error {
	snapshots := partition.NewSnapshots(c.Bus)
	for p, epoch := range epochs {
		if err := snapshots.Sweep(ctx, p, epoch); err != nil {
			return err //nolint:wrapcheck // says all
		}
	}
	return removeMovedBudgets(ctx, c.Bus)
}

// leaseTime is how long the leases of all partitions may take: those of a process that was killed
// end by themselves.
const leaseTime = 3 * messages.LeaseTTL

// owning calls do with the leases of n partitions, and ends it when one is lost.
func (c *Change) owning(ctx context.Context, n int, do func(ctx context.Context, epochs []uint64) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var mu sync.Mutex
	epochs, left, all := make([]uint64, n), n, make(chan struct{})
	leases := &partition.Leases{
		Bus: c.Bus, Group: messages.StageFrontier, Owner: owner, Partitions: n, Log: c.Log,
		RunPartition: func(own context.Context, p int, epoch uint64) error {
			mu.Lock()
			if epochs[p] = epoch; left > 0 {
				if left--; left == 0 {
					close(all)
				}
			}
			mu.Unlock()
			<-own.Done()
			stop(context.Cause(own))
			return nil
		},
	}
	renewing, end := context.WithCancel(context.WithoutCancel(ctx))
	var given sync.WaitGroup
	given.Go(func() { _ = leases.Run(renewing) }) // a lease that is lost has ended ctx
	defer given.Wait()
	defer end()
	select {
	case <-all:
	case <-ctx.Done():
		return context.Cause(ctx) //nolint:wrapcheck // of whom it is
	case <-time.After(leaseTime):
		return fmt.Errorf("%w: a frontier has leases of partitions: stop all frontiers", ErrBlocked)
	}
	err := do(ctx, epochs)
	if cause := context.Cause(ctx); err != nil && errors.Is(cause, partition.ErrLost) {
		err = fmt.Errorf("%w: run it again: %w", cause, err)
	}
	return err
}

// checkBlockers returns an error if anything is in the way.
func (c *Change) checkBlockers(ctx context.Context) error {
	all, err := Blockers(ctx, c.Bus)
	if err == nil && len(all) > 0 {
		err = blocked(all)
	}
	return err
}

// blocked returns an error that names what is in the way.
func blocked(all []string) error {
	return fmt.Errorf("%w:\n  %s", ErrBlocked, strings.Join(all, "\n  "))
}

func newJournal(from, to int) *journal {
	return &journal{ID: nuid.Next(), From: from, To: to, Phase: phaseCopy, Began: time.Now().UTC()}
}

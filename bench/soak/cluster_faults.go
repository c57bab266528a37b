package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"seine/bench/contract"
	"seine/bench/supervise"
	"seine/internal/base/sleep"
	"seine/pkg/messages"
)

// Faults of the whole cluster, by the commands that docs/guides names for an operator: the restore of a backup.

const (
	commandSeine = "seine"
	kindRestore  = "restore"
)

// storm keeps the other faults away while the whole cluster is stopped.
type storm struct {
	making sync.RWMutex
	mu     sync.Mutex
	calm   context.Context // of all faults that are under way
	end    context.CancelFunc
}

// enter waits until a fault may be made, and returns its context. Those of the whole cluster wait for nobody.
func (s *storm) enter(ctx context.Context, kind string) (context.Context, func()) {
	if kind == kindRestore || kind == kindEmpty {
		return ctx, func() {}
	}
	s.making.RLock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calm == nil || s.calm.Err() != nil {
		s.calm, s.end = context.WithCancel(ctx)
	}
	return s.calm, s.making.RUnlock
}

// quiet ends all faults, and keeps new ones away until over is called.
func (s *storm) quiet() (over func()) {
	s.mu.Lock()
	if s.end != nil {
		s.end()
	}
	s.mu.Unlock()
	s.making.Lock()
	return s.making.Unlock
}

// holdCluster waits for a crawl that knows all of its seeds, which have been acknowledged long ago, then, and keeps the cluster for the
// caller. It returns false if faults are over before.
func (r *testbed) holdCluster(ctx context.Context) bool {
	for {
		r.cluster.Lock()
		if ctx.Err() == nil && r.open != nil {
			if _, n := r.open.Look(ctx, r.bus, r.now.Say); n.Known() >= int64(r.open.Web.Hosts()) {
				return true
			}
		}
		r.cluster.Unlock()
		if sleep.For(ctx, 200*time.Millisecond) != nil {
			return false
		}
	}
}

// lasting returns a context that an interrupt ends, but not the end of the time for faults: the cluster must be whole again.
func lasting(ctx context.Context) (context.Context, context.CancelFunc) {
	out, cancel := context.WithCancel(context.WithoutCancel(ctx))
	context.AfterFunc(ctx, func() {
		if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			cancel()
		}
	})
	return out, cancel
}

// restore makes a backup in mid-crawl, loses all that the brokers have while faults go on, and in half of the cases what stages have
// stored for themselves, too, and restores the backup. The output stays as it is.
func restore(ctx context.Context, r *testbed, _ string, d draw) {
	_ = sleep.For(ctx, d.between(0, 15*time.Second)) // so that it comes at any moment of a crawl
	if !r.holdCluster(ctx) {
		return
	}
	defer r.cluster.Unlock()
	lost := time.Duration(d.a * float64(longest))
	faults := ctx
	ctx, cancel := lasting(ctx)
	defer cancel()
	r.step("restore: back up")
	copied := filepath.Join(r.dir, "backup")
	defer func() { _ = os.RemoveAll(copied) }()
	if !r.insist(ctx, "backup", "--to", copied) {
		return
	}
	r.step("restore: crawl on for %s", lost.Round(time.Second))
	_ = sleep.For(faults, lost)
	defer r.storm.quiet()()
	r.step("restore: lose the brokers")
	again := r.stopStages(d.b < 0.3)
	brokersAgain := r.endAll(roleBroker, (*supervise.Process).Kill)
	for _, name := range r.brokerOrder() {
		r.empty(r.disks[name].dir)
	}
	if d.length > 0.5 {
		r.tell.Note("restore: the states of stages are lost, too")
		for _, p := range r.processes {
			if p.Role == messages.StageFrontier || p.Role == messages.StageWriter {
				r.empty(filepath.Join(r.dir, p.Name))
			}
		}
	}
	brokersAgain()
	r.step("restore: restore")
	args := []string{"restore", "--from", copied}
	if !r.killed(ctx, d.between(0, 8*time.Second), args...) {
		r.insist(ctx, args...)
	}
	again()
	r.rejoin(ctx)
}

// step logs what is being done, which counts as progress.
func (r *testbed) step(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	r.tell.Note("%s", text)
	r.now.Say(text)
}

// seine runs a command of the operator, past all proxies, for as long as it may take.
func (r *testbed) seine(ctx context.Context, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, filepath.Join(r.bin, commandSeine), append(args, "--nats", "nats://"+strings.Join(r.direct, ",nats://"))...) //nolint:gosec // built here
	var said bytes.Buffer
	c.Stderr = &said
	out, err := c.Output()
	if err != nil {
		return out, fmt.Errorf("seine %s: %w: %s", args[0], err, bytes.TrimSpace(said.Bytes()))
	}
	return out, nil
}

// insist runs a command until it succeeds, as who operates does.
func (r *testbed) insist(ctx context.Context, args ...string) bool {
	var last string
	err := contract.Insist(ctx, "seine "+args[0], func(ctx context.Context) error {
		out, err := r.seine(ctx, args...)
		if err != nil && err.Error() != last {
			last = err.Error()
			r.tell.Note("%s", last)
		}
		if err == nil {
			r.tell.Note("seine %s: %s", args[0], bytes.Join(bytes.Fields(out), []byte(" ")))
		}
		return err
	})
	if err != nil && ctx.Err() == nil {
		r.tell.Violation("%v", err)
	}
	return err == nil
}

// killed runs a command and kills it after a while, if it has not ended by then. It reports whether the command has done its work.
func (r *testbed) killed(ctx context.Context, after time.Duration, args ...string) bool {
	ctx, cancel := context.WithTimeout(ctx, after)
	defer cancel()
	c := exec.CommandContext(ctx, filepath.Join(r.bin, commandSeine), append(args, "--nats", "nats://"+strings.Join(r.direct, ",nats://"))...) //nolint:gosec // built here
	err := c.Run()
	r.tell.Note("seine %s, killed after %s: %v", args[0], after.Round(time.Millisecond), err)
	return err == nil
}

// stopStages ends all stages at a time, in peace or not, and returns what starts them again.
func (r *testbed) stopStages(peace bool) (again func()) {
	var all []func()
	end := (*supervise.Process).Kill
	if peace {
		end = func(p *supervise.Process) {
			if p.Drain() == supervise.Stuck {
				r.tell.Violation("%s does not end within %s of SIGTERM", p.Name, supervise.DrainTime)
			}
		}
	}
	var ending sync.WaitGroup
	var mu sync.Mutex
	for _, role := range r.roles {
		ending.Go(func() {
			start := r.endAll(role, end)
			mu.Lock()
			defer mu.Unlock()
			all = append(all, start)
		})
	}
	ending.Wait()
	return func() {
		for _, start := range all {
			start()
		}
	}
}

// endAll ends all processes of a role at a time, and returns what starts them again.
func (r *testbed) endAll(role string, end func(*supervise.Process)) (again func()) {
	names := r.wanted(role)
	var ending sync.WaitGroup
	for _, name := range names {
		ending.Go(func() { end(r.find(name)) })
	}
	ending.Wait()
	return func() {
		for _, name := range names {
			r.find(name).Want()
		}
	}
}

// empty removes all that is in a folder, which may be a disk of its own, or not there.
func (r *testbed) empty(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		r.tell.Violation("lose %s: %v", dir, err)
	}
	for _, e := range entries {
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			r.tell.Violation("lose %s: %v", dir, err)
		}
	}
}

// rejoin connects what checks to the cluster as it is now, once its frontiers have all partitions.
func (r *testbed) rejoin(ctx context.Context) {
	r.bus.Close()
	if err := r.join(ctx); err != nil && ctx.Err() == nil {
		r.tell.Violation("join the cluster again: %v", err)
	}
}

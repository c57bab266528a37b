package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sync/errgroup"

	"seine/bench/proc"
	"seine/internal/base/sleep"
)

const (
	lookEvery = 200 * time.Millisecond
	// stalled is how long nothing may happen before that is taken for a fault.
	stalled = 2 * time.Minute
)

// errStalled is returned when nothing happens any more.
var errStalled = fmt.Errorf("nothing has happened for %s", stalled)

// watch prints a line for every step of distinct URLs taken, until all are. Profiles are taken in g.
func (m *testbed) watch(ctx context.Context, g *errgroup.Group, pub *published) error {
	t := &table{testbed: m, next: m.Report * 1e6, moved: time.Now()}
	if err := t.begin(); err != nil {
		return err
	}
	profiled := m.CPUProfile == "" && m.HeapProfile == ""
	for sleep.For(ctx, lookEvery) == nil {
		now, err := m.counts(ctx)
		if err != nil {
			return err
		}
		pub.applied.Store(now.applied())
		if !profiled && float64(now.queued) >= m.ProfileAt*1e6 {
			profiled = true
			g.Go(func() error { return m.profile(ctx) })
		}
		switch done := pub.fresh.Load() == int64(m.URLs) && now.applied() == pub.total(); {
		case done:
			if err := t.line(now, pub); err != nil {
				return err
			}
			m.broken = t.judge() // said at the end: the other phase is to be seen as well
			return nil
		case now.excluded > 0, now.queued > int64(m.URLs):
			return m.checkQueued(ctx, pub)
		case float64(now.queued) >= t.next && now.queued < int64(m.URLs):
			if err := t.line(now, pub); err != nil {
				return err
			}
			t.next += m.Report * 1e6
		case now.applied() != t.seen:
			t.seen, t.moved = now.applied(), time.Now()
		case time.Since(t.moved) > stalled:
			return errors.Join(m.checkDead(ctx),
				fmt.Errorf("%w: %d of %d candidates were applied", errStalled, now.applied(), pub.total()))
		}
	}
	return ctx.Err()
}

// table is the figures of the injection, line by line.
type table struct {
	*testbed
	before      counts
	used        costs
	next        float64 // distinct URLs of the next line
	seen        int64   // candidates at the last look
	moved       time.Time
	first, last float64 // rates of the steps
}

func (t *table) begin() (err error) {
	fmt.Println("| distinct | candidates | candidates/s | behind | RSS MB | peak MB | state B/URL | state MB | nats disk MB | nats RSS MB |" +
		" filter errs | CPU s frontier | µs/candidate | nats | bench | other cores |")
	fmt.Println("|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
	t.used, err = t.costs()
	return err
}

// line prints what has changed since the line before. Behind are candidates that JetStream has and the frontier has
// not: near 0, it is not the frontier that is the slowest. Other cores were busy with none of the three processes.
func (t *table) line(now counts, pub *published) error {
	used, err := t.costs()
	if err != nil {
		return err
	}
	taken := float64(now.applied() - t.before.applied())
	t.last = taken / used.at.Sub(t.used.at).Seconds()
	if t.first == 0 {
		t.first = t.last
	}
	cpu := used.frontierCPU - t.used.frontierCPU
	fmt.Printf("| %.2f M | %.2f M | %.0f | %d | %.0f | %.0f | %.0f | %.0f | %.0f | %.0f | %.4f %% | %.1f | %.1f | %.1f | %.1f | %.1f |\n",
		float64(now.queued)/1e6, float64(now.applied())/1e6, t.last, max(0, pub.total()-now.applied()),
		proc.MB(used.rss), proc.MB(used.peak), float64(used.state)/float64(max(1, now.queued)), proc.MB(used.state), proc.MB(used.nats), proc.MB(used.natsRSS),
		100*float64(now.falsely)/float64(max(1, now.queued)), cpu, cpu/max(1, taken)*1e6,
		used.natsCPU-t.used.natsCPU, used.ownCPU-t.used.ownCPU, used.others(t.used))
	t.before, t.used = now, used
	return nil
}

// judge fails if a limit was given and broken.
func (t *table) judge() error {
	var errs []error
	if err := t.checkRSS(t.used.rss); err != nil {
		errs = append(errs, err)
	}
	if t.MinRate > 0 && t.last < t.MinRate {
		errs = append(errs, fmt.Errorf("the last step took %.0f candidates/s, fewer than %.0f", t.last, t.MinRate))
	}
	if t.MinShare > 0 && t.last < t.MinShare*t.first {
		errs = append(errs, fmt.Errorf("the last step took %.0f candidates/s, less than %g of the first one's %.0f", t.last, t.MinShare, t.first))
	}
	return errors.Join(errs...)
}

func (m *testbed) checkRSS(rss int64) error {
	if m.MaxRSS > 0 && proc.MB(rss) > m.MaxRSS {
		return fmt.Errorf("the frontier's RSS is %.0f MB, more than %.0f", proc.MB(rss), m.MaxRSS)
	}
	return nil
}

// profile writes the profiles that were asked for.
func (m *testbed) profile(ctx context.Context) error {
	for _, p := range []struct{ file, path string }{
		{m.HeapProfile, "/debug/pprof/heap"}, {m.CPUProfile, "/debug/pprof/profile?seconds=30"},
	} {
		if p.file == "" {
			continue
		}
		text, err := m.get(ctx, p.path)
		if err != nil {
			return fmt.Errorf("take a profile: %w", err)
		}
		if err := os.WriteFile(p.file, text, 0o600); err != nil {
			return fmt.Errorf("write profile: %w", err)
		}
	}
	return nil
}

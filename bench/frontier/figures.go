package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"seine/bench/proc"
)

// counts are what the frontier has done with candidates.
type counts struct {
	queued, known, excluded int64
	falsely                 int64 // new, but taken for known by the filter
}

func (c counts) applied() int64 { return c.queued + c.known + c.excluded }

func (m *testbed) counts(ctx context.Context) (c counts, err error) {
	text, err := m.get(ctx, "/metrics")
	if err != nil {
		return c, err
	}
	const candidates = "seine_frontier_candidates_total"
	for name, n := range map[string]*int64{
		candidates + `{outcome="queued"}`: &c.queued, candidates + `{outcome="known"}`: &c.known,
		candidates + `{outcome="excluded"}`: &c.excluded, "seine_frontier_bloom_false_positives_total": &c.falsely,
	} {
		if *n, err = metric(text, name); err != nil {
			return c, err
		}
	}
	if m.Phase == phaseOpen { // what is measured is put aside at first
		c.queued, c.excluded = c.excluded, c.queued
	}
	return c, nil
}

// metric finds a figure in what a process serves. One that is not there has another name now, which must not pass for 0.
func metric(text []byte, name string) (int64, error) {
	for line := range bytes.Lines(text) {
		if rest, ok := bytes.CutPrefix(line, []byte(name+" ")); ok {
			v, err := strconv.ParseFloat(string(bytes.TrimSpace(rest)), 64)
			return int64(v), err
		}
	}
	return 0, fmt.Errorf("the frontier has no metric %s", name)
}

// costs are what the processes have used so far.
type costs struct {
	at                           time.Time
	rss, peak, natsRSS           int64   // bytes
	state, nats                  int64   // bytes of disk
	frontierCPU, natsCPU, ownCPU float64 // seconds
	allCPU                       float64 // of everything on the machine
}

// ours is the CPU time of the three processes.
func (c *costs) ours() float64 { return c.frontierCPU + c.natsCPU + c.ownCPU }

// others is how many cores were busy with something else since before: what a slow step may be due to.
func (c *costs) others(before costs) float64 {
	return max(0, (c.allCPU-before.allCPU-c.ours()+before.ours())/c.at.Sub(before.at).Seconds())
}

func (m *testbed) costs() (c costs, err error) {
	c.at = time.Now()
	for _, f := range []func() error{
		func() (err error) { c.rss, c.peak, err = proc.Memory(m.frontier.PID()); return err },
		func() (err error) { c.natsRSS, _, err = proc.Memory(m.nats.PID()); return err },
		func() (err error) { c.frontierCPU, err = proc.CPU(m.frontier.PID()); return err },
		func() (err error) { c.natsCPU, err = proc.CPU(m.nats.PID()); return err },
		func() (err error) { c.ownCPU, err = proc.CPU(os.Getpid()); return err },
		func() (err error) { c.allCPU, err = proc.Busy(); return err },
	} {
		if err := f(); err != nil {
			return c, err
		}
	}
	c.state, c.nats = diskUsage(m.stateDir()), diskUsage(m.natsDir())
	return c, nil
}

// diskUsage is what the files of a folder take on the disk, as du says. Files come and go meanwhile.
func diskUsage(dir string) (n int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // it is gone
		}
		if info, err := d.Info(); err == nil {
			if st, ok := info.Sys().(*syscall.Stat_t); ok {
				n += st.Blocks * 512
			}
		}
		return nil
	})
	return n
}

package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// counts are what the frontier has done with candidates.
type counts struct {
	queued, known, excluded int64
	falsely                 int64 // new, but taken for known by the filter
}

func (c counts) applied() int64 { return c.queued + c.known + c.excluded }

func (m *machine) counts(ctx context.Context) (c counts, err error) {
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
	return c, nil
}

// metric finds a figure in what a process serves. One that is not there has another name now, which must not pass for 0.
func metric(text []byte, name string) (int64, error) {
	for line := range bytes.Lines(text) {
		if rest, ok := bytes.CutPrefix(line, []byte(name+" ")); ok {
			v, err := strconv.ParseFloat(string(bytes.TrimSpace(rest)), 64)
			return int64(v), err //nolint:wrapcheck // of a line that a library wrote
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

func (m *machine) costs() (c costs, err error) {
	c.at = time.Now()
	for _, f := range []func() error{
		func() (err error) { c.rss, c.peak, err = memory(m.frontier.pid()); return err },
		func() (err error) { c.natsRSS, _, err = memory(m.nats.pid()); return err },
		func() (err error) { c.frontierCPU, err = cpuSeconds(m.frontier.pid()); return err },
		func() (err error) { c.natsCPU, err = cpuSeconds(m.nats.pid()); return err },
		func() (err error) { c.ownCPU, err = cpuSeconds(os.Getpid()); return err },
		func() (err error) { c.allCPU, err = busySeconds(); return err },
	} {
		if err := f(); err != nil {
			return c, fmt.Errorf("read the costs of a process (needs Linux): %w", err)
		}
	}
	c.state, c.nats = diskUsage(m.stateDir()), diskUsage(m.natsDir())
	return c, nil
}

// memory returns the resident set of a process, now and at its largest.
func memory(pid int) (rss, peak int64, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0, err //nolint:wrapcheck // by costs
	}
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(line, ":")
		if key != "VmRSS" && key != "VmHWM" {
			continue
		}
		kib, err := strconv.ParseInt(strings.Fields(value)[0], 10, 64)
		if err != nil {
			return 0, 0, err //nolint:wrapcheck // by costs
		}
		if key == "VmRSS" {
			rss = kib << 10
		} else {
			peak = kib << 10
		}
	}
	return rss, peak, nil
}

// ticks are the kernel's units of time in a second: USER_HZ.
const ticks = 100

// cpuSeconds is the time that a process has had on all cores.
func cpuSeconds(pid int) (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err //nolint:wrapcheck // by costs
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:])) // from the state on, which is the third
	return sumTicks(fields[11:13])                                            // utime, stime
}

// busySeconds is the time that all cores together have spent on anything.
func busySeconds() (float64, error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, err //nolint:wrapcheck // by costs
	}
	line, _, _ := strings.Cut(string(text), "\n")
	fields := strings.Fields(line) // cpu user nice system idle iowait irq softirq steal
	return sumTicks(append(fields[1:4:4], fields[6:9]...))
}

func sumTicks(fields []string) (sum float64, err error) {
	for _, f := range fields {
		n, err := strconv.ParseFloat(f, 64)
		if err != nil {
			return 0, err //nolint:wrapcheck // by costs
		}
		sum += n
	}
	return sum / ticks, nil
}

// diskUsage is what the files of a folder take on the disk, as du says. Files come and go meanwhile.
func diskUsage(dir string) (n int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // it is gone
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

// mb is a size in millions of bytes, which is what limits are given in.
func mb(n int64) float64 { return float64(n) / 1e6 }

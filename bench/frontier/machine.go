package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"seine/pkg/messages"
	"seine/pkg/stages"
)

// crawlName is the crawl that is measured.
const crawlName = "bench"

// machine is the processes under test.
type machine struct {
	options
	nats, frontier *exec.Cmd
	admin          string // where the frontier serves its metrics
	bus            *stages.Bus
}

// start builds and starts the processes, and stores the spec of the crawl.
func start(ctx context.Context, o options) (_ *machine, err error) {
	m := &machine{options: o}
	defer func() {
		if err != nil {
			m.stop()
		}
	}()
	bin := filepath.Join(o.dir, "bin")
	for out, pkg := range map[string]string{"nats-server": "github.com/nats-io/nats-server/v2", "frontier": "./cmd/frontier"} {
		if err := build(ctx, filepath.Join(bin, out), pkg); err != nil {
			return nil, err
		}
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	url := "nats://127.0.0.1:" + port
	m.nats, err = spawn(filepath.Join(bin, "nats-server"), "-js", "-sd", filepath.Join(o.dir, "nats"), "-a", "127.0.0.1", "-p", port)
	if err != nil {
		return nil, err
	}
	if port, err = freePort(); err != nil {
		return nil, err
	}
	m.admin = "127.0.0.1:" + port
	m.frontier, err = spawn(filepath.Join(bin, "frontier"), "--nats", url, "--listen", m.admin, "--pprof",
		"--state", filepath.Join(o.dir, "state"), "--partitions", strconv.Itoa(o.partitions),
		"--fetch-messages", strconv.Itoa(o.fetchBacklog), "--snapshot-every", o.snapshots.String())
	if err != nil {
		return nil, err
	}
	return m, m.join(ctx, url)
}

func (m *machine) join(ctx context.Context, url string) (err error) {
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	for range 100 {
		if m.bus, err = stages.Dial(url, "bench", log); err == nil {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if err != nil {
		return err
	}
	if err := m.bus.Join(ctx); err != nil {
		return err
	}
	specs, err := stages.OpenSpecs(ctx, m.bus)
	if err != nil {
		return err
	}
	spec := messages.DefaultSpec()
	spec.Scope, spec.Delay, spec.PerHost, spec.Robots = messages.ScopeAny, 0, 1024, messages.RobotsIgnore
	_, err = specs.Put(ctx, crawlName, &spec)
	return err
}

func (m *machine) stop() {
	if m.bus != nil {
		m.bus.Close()
	}
	for _, c := range []*exec.Cmd{m.frontier, m.nats} {
		if c != nil {
			_ = c.Process.Signal(syscall.SIGTERM)
			kill := time.AfterFunc(30*time.Second, func() { _ = c.Process.Kill() })
			_ = c.Wait()
			kill.Stop()
		}
	}
}

// build builds a command of the main module.
func build(ctx context.Context, out, pkg string) error {
	c := exec.CommandContext(ctx, "go", "build", "-o", out, pkg)
	c.Dir = ".."
	if text, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w: %s", pkg, err, bytes.TrimSpace(text))
	}
	return nil
}

func spawn(name string, args ...string) (*exec.Cmd, error) {
	c := exec.Command(name, args...)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt is for the bench
	if filepath.Base(name) == "frontier" {
		c.Stderr = os.Stderr
		c.Args = append(c.Args, "--log-level", "warn")
	}
	if err := c.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	return c, nil
}

func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a port: %w", err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, err
}

// figures are what the frontier has cost so far.
type figures struct {
	at                     time.Time
	queued, known, falsely float64 // candidates; falsely taken for known by the filter
	rss, peak              int64   // of the frontier, in kB
	disk                   int64   // of its state, bytes
	cpu, natsCPU           float64 // seconds
}

func (m *machine) measure() (f figures, err error) {
	f.at = time.Now()
	text, err := m.get("/metrics")
	if err != nil {
		return f, err
	}
	f.queued = metric(text, `seine_frontier_candidates_total{outcome="queued"}`)
	f.known = metric(text, `seine_frontier_candidates_total{outcome="known"}`)
	f.falsely = metric(text, `seine_frontier_bloom_false_positives_total`)
	pid := strconv.Itoa(m.frontier.Process.Pid)
	f.rss, f.peak = status(pid, "VmRSS"), status(pid, "VmHWM")
	f.cpu, f.natsCPU = cpuSeconds(pid), cpuSeconds(strconv.Itoa(m.nats.Process.Pid))
	f.disk = size(filepath.Join(m.dir, "state"))
	return f, nil
}

func (m *machine) get(path string) ([]byte, error) {
	r, err := http.Get("http://" + m.admin + path)
	if err != nil {
		return nil, fmt.Errorf("ask the frontier: %w", err)
	}
	defer r.Body.Close()
	return io.ReadAll(r.Body)
}

func metric(text []byte, name string) float64 {
	for line := range bytes.Lines(text) {
		if rest, ok := bytes.CutPrefix(line, []byte(name+" ")); ok {
			v, _ := strconv.ParseFloat(string(bytes.TrimSpace(rest)), 64)
			return v
		}
	}
	return 0
}

func status(pid, key string) int64 {
	f, err := os.Open(filepath.Join("/proc", pid, "status"))
	if err != nil {
		return 0
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if rest, ok := strings.CutPrefix(s.Text(), key+":"); ok {
			n, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return n
		}
	}
	return 0
}

// cpuSeconds is the time a process has had on all cores.
func cpuSeconds(pid string) float64 {
	text, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	user, _ := strconv.ParseFloat(fields[11], 64)
	system, _ := strconv.ParseFloat(fields[12], 64)
	return (user + system) / 100 // USER_HZ
}

func size(dir string) (n int64) {
	_ = filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err == nil {
			if i, err := d.Info(); err == nil && i.Mode().IsRegular() {
				n += i.Size()
			}
		}
		return nil
	})
	return n
}

package main

import (
	"bytes"
	"context"
	"errors"
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
	"sync/atomic"
	"syscall"
	"time"

	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/frontier"
)

// crawl is the name of the crawl that is measured.
const crawl = "bench"

// machine is what is measured: a nats-server and a frontier, in processes of their own.
type machine struct {
	options
	work           string
	fail           context.CancelCauseFunc // ends everything
	nats, frontier *process
	admin          string // where the frontier serves its figures
	bus            *stages.Bus
	rev            uint64 // of the crawl's spec
}

// start builds and starts the processes, and stores the spec of the crawl.
func (m *machine) start(ctx context.Context) error {
	bin, err := build(ctx, m.work)
	if err != nil {
		return err
	}
	ports, err := freePorts(2)
	if err != nil {
		return err
	}
	url := "nats://127.0.0.1:" + ports[0]
	m.admin = "http://127.0.0.1:" + ports[1]
	m.nats, err = m.spawn(filepath.Join(bin, "nats-server"),
		"-js", "-sd", m.natsDir(), "-a", "127.0.0.1", "-p", ports[0])
	if err != nil {
		return err
	}
	m.frontier, err = m.spawn(filepath.Join(bin, "frontier"), append([]string{
		"--nats", url, "--listen", "127.0.0.1:" + ports[1], "--pprof", "--log-level", "warn", "--state", m.stateDir(),
		"--urls-bytes", "4GiB", "--partitions", strconv.Itoa(m.Partitions), "--fetch-messages", strconv.Itoa(m.FetchMessages),
	}, strings.Fields(m.FrontierArgs)...)...)
	if err != nil {
		return err
	}
	if err := m.join(ctx, url); err != nil {
		return err
	}
	return m.prepare(ctx)
}

func (m *machine) stateDir() string { return filepath.Join(m.work, "state") }
func (m *machine) natsDir() string  { return filepath.Join(m.work, "nats") }

// startTime is how long the processes may take to start.
const startTime = time.Minute

// join connects, and waits until the frontier serves every partition.
func (m *machine) join(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	for m.bus == nil {
		bus, err := stages.Dial(url, "frontier-bench", log)
		if err == nil {
			m.bus = bus
		} else if stages.Sleep(ctx, 100*time.Millisecond) != nil {
			return fmt.Errorf("connect to NATS: %w", err)
		}
	}
	if err := m.bus.Join(ctx); err != nil {
		return fmt.Errorf("wait for the streams: %w", err)
	}
	client := frontier.Client{Bus: m.bus}
	for {
		_, err := client.Status(ctx, crawl)
		if err == nil {
			return nil
		}
		if stages.Sleep(ctx, 100*time.Millisecond) != nil {
			return fmt.Errorf("wait for the frontier: %w", err)
		}
	}
}

// prepare stores a spec that holds nothing up: what is measured is how fast the frontier is, not how polite.
func (m *machine) prepare(ctx context.Context) error {
	specs, err := stages.OpenSpecs(ctx, m.bus)
	if err != nil {
		return fmt.Errorf("open specs: %w", err)
	}
	spec := theSpec()
	m.rev, err = specs.Put(ctx, crawl, &spec)
	if err != nil {
		return fmt.Errorf("store spec: %w", err)
	}
	return nil
}

func theSpec() messages.Spec {
	s := messages.DefaultSpec()
	s.Scope, s.Delay, s.PerHost, s.Robots = messages.ScopeAny, 0, 1024, messages.RobotsIgnore
	return s
}

// stop ends the processes that were started. What they hold is about to be deleted, unless it is kept.
func (m *machine) stop() {
	if m.bus != nil {
		m.bus.Close()
	}
	for _, p := range []*process{m.frontier, m.nats} {
		if p != nil {
			p.stop(m.Keep)
		}
	}
}

// build makes the frontier of this tree, and the nats-server that it is tested with.
func build(ctx context.Context, work string) (string, error) {
	root, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "seine").Output()
	if err != nil {
		return "", errors.New("run it in the folder bench/ of a checkout: the module seine is not to be found here")
	}
	bin := filepath.Join(work, "bin")
	for name, pkg := range map[string]string{"nats-server": "github.com/nats-io/nats-server/v2", "frontier": "./cmd/frontier"} {
		c := exec.CommandContext(ctx, "go", "build", "-o", filepath.Join(bin, name), pkg)     //nolint:gosec // fixed
		c.Dir, c.Env = strings.TrimSpace(string(root)), append(os.Environ(), "CGO_ENABLED=0") // as make and the images do
		if text, err := c.CombinedOutput(); err != nil {
			return "", fmt.Errorf("build %s: %w: %s", name, err, bytes.TrimSpace(text))
		}
	}
	return bin, nil
}

// process is a command that runs until it is stopped.
type process struct {
	name     string
	cmd      *exec.Cmd
	stopping atomic.Bool
	ended    chan struct{}
}

// spawn starts a command. If it ends by itself, everything ends.
func (m *machine) spawn(path string, args ...string) (*process, error) {
	p := &process{name: filepath.Base(path), ended: make(chan struct{})}
	log, err := os.Create(filepath.Join(m.work, p.name+".log"))
	if err != nil {
		return nil, fmt.Errorf("make log: %w", err)
	}
	p.cmd = exec.Command(path, args...) //nolint:gosec,noctx // stopped by stop
	p.cmd.Stdout, p.cmd.Stderr = log, log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt is for the bench
	if err := p.cmd.Start(); err != nil {
		_ = log.Close()
		return nil, fmt.Errorf("start %s: %w", p.name, err)
	}
	go func() {
		err := p.cmd.Wait()
		_ = log.Close()
		close(p.ended)
		if !p.stopping.Load() {
			m.fail(fmt.Errorf("%s ended by itself: %w\n%s", p.name, err, lastLines(log.Name())))
		}
	}()
	return p, nil
}

// stop ends the process, with time to drain if asked.
func (p *process) stop(gently bool) {
	p.stopping.Store(true)
	if gently {
		_ = p.cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-p.ended:
			return
		case <-time.After(time.Minute):
		}
	}
	_ = p.cmd.Process.Kill()
	<-p.ended
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// lastLines returns the end of a log.
func lastLines(file string) string {
	text, _ := os.ReadFile(file)
	return strings.TrimSpace(string(text[max(0, len(text)-2000):]))
}

// freePorts finds ports that nobody listens on.
func freePorts(n int) (ports []string, err error) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("find a port: %w", err)
		}
		defer func() { _ = l.Close() }() // all at once, so that they differ
		ports = append(ports, strconv.Itoa(l.Addr().(*net.TCPAddr).Port))
	}
	return ports, nil
}

// get asks the frontier's process.
func (m *machine) get(ctx context.Context, path string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, m.admin+path, nil)
	if err != nil {
		return nil, fmt.Errorf("ask the frontier: %w", err)
	}
	r, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, fmt.Errorf("ask the frontier: %w", err)
	}
	defer func() { _ = r.Body.Close() }()
	text, err := io.ReadAll(r.Body)
	if err == nil && r.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", r.Status, bytes.TrimSpace(text))
	}
	if err != nil {
		return nil, fmt.Errorf("ask the frontier: %w", err)
	}
	return text, nil
}

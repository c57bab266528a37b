package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"

	"seine/bench/proc"
	"seine/internal/base/sleep"
	"seine/internal/testing/testweb"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// process is a command that runs until it is killed, perhaps several times.
type process struct {
	path string
	args []string
	log  *os.File
	cmd  *exec.Cmd
	cpu  time.Duration // of former lives
}

func (p *process) start() error {
	cmd := exec.Command(p.path, p.args...) //nolint:gosec,noctx // killed by kill
	cmd.Stdout, cmd.Stderr = p.log, p.log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt is for the bench
	cmd.Env = append(os.Environ(), "SEINE_NATS_URL=")
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", filepath.Base(p.path), err)
	}
	p.cmd = cmd
	return nil
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
	p.cpu += p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime()
}

// cluster is a nats-server and the four stages.
type cluster struct {
	bin, dir, url string
	processes     []*process
	frontier      *process
	bus           *stages.Bus
}

func startCluster(o options, bin, work string) (*cluster, error) {
	dir, err := os.MkdirTemp(work, "run-")
	if err != nil {
		return nil, fmt.Errorf("make run folder: %w", err)
	}
	ports, err := proc.FreePorts(1)
	if err != nil {
		return nil, err //nolint:wrapcheck // says all
	}
	c := &cluster{bin: bin, dir: dir, url: "nats://127.0.0.1:" + ports[0]}
	start := func(name string, args ...string) *process {
		if err != nil {
			return nil
		}
		var p *process
		if p, err = c.start(name, args...); err != nil {
			c.close()
		}
		return p
	}
	stage := func(name string, args ...string) *process {
		return start(name, append([]string{"--nats", c.url, "--listen", "127.0.0.1:0"}, args...)...)
	}
	start(proc.NATSServer, proc.NATSArgs(bin, filepath.Join(dir, "nats"), ports[0])...)
	c.frontier = stage("frontier", "--state", filepath.Join(dir, "frontier"))
	for range o.Fetchers {
		stage("fetcher")
	}
	stage("parser")
	stage("writer", "--out", filepath.Join(dir, "out"), "--state", filepath.Join(dir, "writer"))
	return c, err
}

func (c *cluster) start(name string, args ...string) (*process, error) {
	log, err := os.Create(filepath.Join(c.dir, fmt.Sprintf("%s-%d.log", name, len(c.processes))))
	if err != nil {
		return nil, fmt.Errorf("make log: %w", err)
	}
	p := &process{path: filepath.Join(c.bin, name), args: args, log: log}
	if err := p.start(); err != nil {
		return nil, err
	}
	c.processes = append(c.processes, p)
	return p, nil
}

// close kills everything; the broker last, so that the others do not complain.
func (c *cluster) close() {
	if c.bus != nil {
		c.bus.Close()
	}
	for i := len(c.processes) - 1; i >= 0; i-- {
		c.processes[i].kill()
		_ = c.processes[i].log.Close()
	}
}

// cpu is the CPU time of each kind of process, once closed.
func (c *cluster) cpu() string {
	var names []string
	sum := make(map[string]time.Duration)
	for _, p := range c.processes {
		name := filepath.Base(p.path)
		if _, ok := sum[name]; !ok {
			names = append(names, name)
		}
		sum[name] += p.cpu
	}
	for i, name := range names {
		names[i] = fmt.Sprintf("%s %.1f s", name, sum[name].Seconds())
	}
	return strings.Join(names, ", ")
}

// join connects once the frontier has made the streams.
func (c *cluster) join(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for {
		bus, err := stages.Dial(c.url, "politeness", slog.New(slog.DiscardHandler))
		if err == nil {
			c.bus = bus
			if err := bus.Join(ctx); err != nil {
				return fmt.Errorf("join the cluster: %w", err)
			}
			return nil
		}
		if err := sleep.For(ctx, 50*time.Millisecond); err != nil {
			return fmt.Errorf("connect to NATS: %w", err)
		}
	}
}

const crawl = "politeness"

// feed stores the spec and publishes the first page of every host.
func (c *cluster) feed(ctx context.Context, spec *crawlspec.Spec, s *testweb.Server, hosts int) error {
	specs, err := stages.OpenSpecs(ctx, c.bus)
	if err != nil {
		return fmt.Errorf("open specs: %w", err)
	}
	if _, err := specs.Put(ctx, crawl, spec); err != nil {
		return fmt.Errorf("store spec: %w", err)
	}
	var seeds strings.Builder
	for h := range hosts {
		seeds.WriteString(s.URL(h, "/") + "\n")
	}
	m := &nats.Msg{Subject: messages.SubjectSeeds(crawl), Data: []byte(seeds.String())}
	if err := stages.NewPublisher(c.bus, "politeness").Publish(ctx, m); err != nil {
		return fmt.Errorf("publish seeds: %w", err)
	}
	return nil
}

// explain runs `seine explain`, as a person would.
func (c *cluster) explain(ctx context.Context, url string) (string, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(c.bin, "seine"), //nolint:gosec // built above
		"explain", url, "--crawl", crawl, "--nats", c.url, "--json")
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("explain: %w", err)
	}
	return string(out), nil
}

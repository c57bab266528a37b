package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"seine/bench/proc"
	"seine/internal/base/sleep"
	"seine/pkg/crawlspec"
	"seine/pkg/stages"
	"seine/pkg/stages/frontier/frontierapi"
)

// crawl is the name of the crawl that is measured.
const crawl = "bench"

// testbed is what is measured: a nats-server and a frontier, in processes of their own, and perhaps a server of pages.
type testbed struct {
	options
	startFrontier  func() error
	work           string
	fail           context.CancelCauseFunc // ends everything
	nats, frontier *proc.Process
	admin          string        // where the frontier serves its figures
	server         *proc.Process // seine serve, of the lists
	pages          string        // where it serves
	bus            *stages.Bus
	rev            uint64 // of the crawl's spec
	broken         error  // limits that were, by the first phase
}

// start builds and starts the processes, and stores the spec of the crawl.
func (m *testbed) start(ctx context.Context) error {
	bin, err := proc.Build(ctx, m.work, "frontier")
	if err != nil {
		return err
	}
	ports, err := proc.FreePorts(2)
	if err != nil {
		return err
	}
	url := "nats://127.0.0.1:" + ports[0]
	m.admin = "http://127.0.0.1:" + ports[1]
	m.nats, err = proc.Start(m.fail, m.work, filepath.Join(bin, proc.NATSServer),
		proc.NATSArgs(bin, m.natsDir(), ports[0])...)
	if err != nil {
		return err
	}
	m.startFrontier = func() (err error) {
		m.frontier, err = proc.Start(m.fail, m.work, filepath.Join(bin, "frontier"), append([]string{
			"--nats", url, "--listen", "127.0.0.1:" + ports[1], "--pprof", "--log-level", "warn", "--state", m.stateDir(),
			"--urls-bytes", "4GiB", "--partitions", strconv.Itoa(m.Partitions), "--fetch-messages", strconv.Itoa(m.FetchMessages),
		}, strings.Fields(m.FrontierArgs)...)...)
		return err
	}
	if err := m.startFrontier(); err != nil {
		return err
	}
	if err := m.join(ctx, url); err != nil {
		return err
	}
	return m.prepare(ctx)
}

func (m *testbed) stateDir() string { return filepath.Join(m.work, "state") }
func (m *testbed) natsDir() string  { return filepath.Join(m.work, "nats") }

// startTime is how long the processes may take to start.
const startTime = time.Minute

// join connects, and waits until the frontier serves every partition.
func (m *testbed) join(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	for m.bus == nil {
		bus, err := stages.Dial(url, "frontier-bench", log)
		if err == nil {
			m.bus = bus
		} else if sleep.For(ctx, 100*time.Millisecond) != nil {
			return fmt.Errorf("connect to NATS: %w", err)
		}
	}
	if err := m.bus.Join(ctx); err != nil {
		return fmt.Errorf("wait for the streams: %w", err)
	}
	return m.served(ctx)
}

// served waits until the frontier serves every partition.
func (m *testbed) served(ctx context.Context) error {
	for {
		_, err := frontierapi.Client{Bus: m.bus}.Status(ctx, crawl)
		if err == nil {
			return nil
		}
		if sleep.For(ctx, 100*time.Millisecond) != nil {
			return fmt.Errorf("wait for the frontier: %w", err)
		}
	}
}

// prepare stores a spec that holds nothing up: what is measured is how fast the frontier is, not how polite.
func (m *testbed) prepare(ctx context.Context) error {
	specs, err := stages.OpenSpecs(ctx, m.bus)
	if err != nil {
		return fmt.Errorf("open specs: %w", err)
	}
	spec := theSpec()
	if m.Phase == phaseOpen {
		spec.Scope = crawlspec.ScopeHost
	}
	m.rev, err = specs.Put(ctx, crawl, &spec)
	if err != nil {
		return fmt.Errorf("store spec: %w", err)
	}
	return nil
}

func theSpec() crawlspec.Spec {
	s := crawlspec.Default()
	s.Scope, s.Delay, s.PerHost, s.Robots = crawlspec.ScopeAny, 0, 1024, crawlspec.RobotsIgnore
	return s
}

// stop ends the processes that were started. What they hold is about to be deleted, unless it is kept.
func (m *testbed) stop() {
	if m.bus != nil {
		m.bus.Close()
	}
	for _, p := range []*proc.Process{m.server, m.frontier, m.nats} {
		if p != nil {
			p.Stop(m.Keep)
		}
	}
}

// get asks the frontier's process.
func (m *testbed) get(ctx context.Context, path string) ([]byte, error) {
	text, err := proc.Get(ctx, m.admin+path)
	if err != nil {
		return nil, fmt.Errorf("ask the frontier: %w", err)
	}
	return text, nil
}

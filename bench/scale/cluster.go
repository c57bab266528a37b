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

	"seine/bench/fleet"
	"seine/bench/proc"
	"seine/internal/base/sleep"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/frontier/frontierapi"
)

// cluster is what is measured: the processes of a setup.
type cluster struct {
	setup
	bin, dir  string
	fail      context.CancelCauseFunc // ends everything
	web       *proc.Process
	webPort   string
	urls      []string // of NATS
	monitors  []string
	processes map[string][]*proc.Process // by part
	bus       *stages.Bus
}

// parts of a cluster, in the order of the tables.
var parts = []string{messages.StageFrontier, messages.StageFetcher, messages.StageParser, messages.StageWriter, proc.NATSServer}

func (c *cluster) run(part string, args ...string) error {
	p, err := proc.Start(c.fail, c.dir, filepath.Join(c.bin, part), args...)
	if err != nil {
		return err
	}
	c.processes[part] = append(c.processes[part], p)
	return nil
}

// startNATS starts the servers.
func (c *cluster) startNATS() error {
	ports, err := proc.FreePorts(3 * c.nodes)
	if err != nil {
		return err
	}
	clients, routes, monitors := ports[:c.nodes], ports[c.nodes:2*c.nodes], ports[2*c.nodes:]
	var peers []string
	for _, p := range routes {
		peers = append(peers, "nats-route://127.0.0.1:"+p)
	}
	for i := range c.nodes {
		args := append(proc.NATSArgs(c.bin, filepath.Join(c.dir, "nats", strconv.Itoa(i)), clients[i]),
			"-m", monitors[i], "--server_name", fmt.Sprint("n", i+1))
		if c.nodes > 1 {
			args = append(args, "--cluster_name", "seine", "--cluster", peers[i], "--routes", strings.Join(peers, ","))
		}
		if err := c.run(proc.NATSServer, args...); err != nil {
			return err
		}
		c.urls = append(c.urls, "nats://127.0.0.1:"+clients[i])
		c.monitors = append(c.monitors, "http://127.0.0.1:"+monitors[i])
	}
	return nil
}

// awaitNATS waits until every server is ready for JetStream.
func (c *cluster) awaitNATS(ctx context.Context) error {
	for _, m := range c.monitors {
		for {
			_, err := proc.Get(ctx, m+"/healthz")
			if err == nil {
				break
			}
			if sleep.For(ctx, 50*time.Millisecond) != nil {
				return fmt.Errorf("wait for NATS: %w", err)
			}
		}
	}
	return nil
}

// startStages starts the web and the stages.
func (c *cluster) startStages(o *options) error {
	ports, err := proc.FreePorts(1)
	if err != nil {
		return err
	}
	c.webPort = ports[0]
	c.web, err = proc.Start(c.fail, c.dir, filepath.Join(c.bin, "testweb"), "--addr", "127.0.0.1:"+c.webPort,
		"--hosts", strconv.Itoa(o.Hosts), "--pages", strconv.Itoa(o.Pages), "--page-bytes", strconv.Itoa(o.Bytes),
		"--cross-host", "0.2", "--robots", "none", "--latency", c.latency.String())
	if err != nil {
		return err
	}
	common := []string{"--nats", strings.Join(c.urls, ","), "--listen", "off", "--log-level", "warn"}
	for _, s := range []struct {
		part string
		n    int
		args func(i string) []string
	}{
		{messages.StageFrontier, c.frontiers, func(i string) []string {
			return []string{
				"--state", filepath.Join(c.dir, "state", i), "--partitions-owned", "fair",
				"--partitions", strconv.Itoa(c.partitions), "--replicas", strconv.Itoa(c.replicas),
			}
		}},
		{messages.StageFetcher, c.fetchers, func(string) []string { return []string{"--workers", strconv.Itoa(c.workers)} }},
		{messages.StageParser, c.parsers, func(string) []string { return nil }},
		{messages.StageWriter, c.writers, func(i string) []string {
			return []string{"--out", c.out(), "--state", filepath.Join(c.dir, "writer", i), "--chunk-age", "2s"}
		}},
	} {
		for i := range s.n {
			if err := c.run(s.part, append(s.args(strconv.Itoa(i)), common...)...); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *cluster) out() string { return filepath.Join(c.dir, "out") }

// join connects, and waits until every partition is served, by all frontiers.
func (c *cluster) join(ctx context.Context) error {
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	var err error
	if c.bus, err = stages.Dial(strings.Join(c.urls, ","), "scale-bench", log); err != nil {
		return fmt.Errorf("connect to NATS: %w", err)
	}
	if err := c.bus.Join(ctx); err != nil {
		return fmt.Errorf("wait for the streams: %w", err)
	}
	for {
		err := c.shared(ctx)
		if err == nil {
			return nil
		}
		if sleep.For(ctx, 100*time.Millisecond) != nil {
			return fmt.Errorf("wait for the stages: %w", err)
		}
	}
}

// shared reports what is missing until every frontier and writer has its part.
func (c *cluster) shared(ctx context.Context) error {
	if _, err := (frontierapi.Client{Bus: c.bus}).Status(ctx, crawlName); err != nil {
		return err
	}
	kv, err := c.bus.JS.KeyValue(ctx, messages.BucketLeases)
	if err != nil {
		return fmt.Errorf("open leases: %w", err)
	}
	keys, err := kv.ListKeysFiltered(ctx, "lease.>")
	if err != nil {
		return fmt.Errorf("list leases: %w", err)
	}
	want := map[string]int{messages.StageFrontier: c.frontiers, "writer-" + fleet.Writer: c.writers}
	owners, leases := make(map[string]map[string]bool), 0
	for key := range keys.Keys() {
		group := strings.Split(key, ".")[1]
		if want[group] == 0 { // that of the watchdog
			continue
		}
		e, err := kv.Get(ctx, key)
		if err != nil {
			continue
		}
		leases++
		if owners[group] == nil {
			owners[group] = make(map[string]bool)
		}
		owners[group][ownerOf(e.Value())] = true
	}
	for group, n := range want {
		if have := len(owners[group]); have != min(n, c.partitions) || leases != 2*c.partitions {
			return fmt.Errorf("%d of %d %s, %d leases", have, n, group, leases)
		}
	}
	return nil
}

// stop ends everything; what it holds is about to be deleted.
func (c *cluster) stop() {
	if c.bus != nil {
		c.bus.Close()
	}
	if c.web != nil {
		c.web.Stop(false)
	}
	for _, part := range parts {
		for _, p := range c.processes[part] {
			p.Stop(false)
		}
	}
}

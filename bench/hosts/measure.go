//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"seine/bench/contract"
	"seine/bench/netns"
	"seine/bench/proc"
	"seine/internal/testing/testweb"
	"seine/pkg/crawlspec"
)

// setup is a layout to measure, and how far its hosts are from each other.
type setup struct {
	name string
	layout
	delay time.Duration // of every link, one way
}

// setups are those to compare, the first one being what the others are held against.
func setups() []setup {
	return []setup{
		{"one host, one server, R1", together(1), 0},
		{"one host, three servers, R3", together(3), 0},
		{"four machines, three servers, R3", spread(), 0},
		{"the same, 1 ms apart", spread(), time.Millisecond},
		{"the same, 10 ms apart", spread(), 10 * time.Millisecond},
	}
}

// costs are what a crawl has cost.
type costs struct {
	rate  float64            // pages per second
	cpu   map[string]float64 // ms of each page, by role
	sent  float64            // bytes over the network for each page
	pages int
}

// roles are those of the tables, in their order. The last is this program: the web, and the network.
var roles = append(append([]string{}, commands...), roleBroker, roleS3, roleSelf)

const roleSelf = "web and network"

// measure crawls the same web by each setup in turn, and prints what came of it.
func measure(ctx context.Context, o options, work string) error {
	all := setups()
	runs := make([][]*costs, len(all))
	for round := range o.Rounds {
		for i, s := range all {
			c, err := s.measure(ctx, o, work)
			if err != nil {
				return fmt.Errorf("round %d, %s: %w", round+1, s.name, err)
			}
			fmt.Printf("%d %-34s %6.0f pages/s\n", round+1, s.name, c.rate)
			runs[i] = append(runs[i], c)
		}
	}
	report(os.Stdout, o, all, runs)
	return nil
}

// measure does one crawl from nothing.
func (s setup) measure(ctx context.Context, o options, work string) (c *costs, err error) {
	dir, err := os.MkdirTemp(work, "run-")
	if err != nil {
		return nil, fmt.Errorf("make folder: %w", err)
	}
	defer func() {
		if err == nil { // else it is to be looked at
			err = os.RemoveAll(dir)
		}
	}()
	journal, err := os.Create(filepath.Join(dir, "journal.log"))
	if err != nil {
		return nil, fmt.Errorf("make journal: %w", err)
	}
	defer func() { _ = journal.Close() }()
	tell := contract.NewTally(journal)
	t, err := newTestbed(s.layout, dir, filepath.Join(work, "bin"), o.Seed, tell)
	if err != nil {
		return nil, err
	}
	defer t.teardown()
	for name := range t.hosts {
		for _, p := range t.from(name) {
			t.network.Set(p[0], p[1], netns.Condition{Delay: s.delay})
		}
	}
	if err := t.start(ctx); err != nil {
		return nil, err
	}
	t.settle(ctx)
	c, err = t.measure(ctx, o)
	if err == nil && tell.Violated() > 0 {
		err = errors.New("a promise was broken, see above")
	}
	return c, err
}

// measure does the crawl.
func (t *testbed) measure(ctx context.Context, o options) (*costs, error) {
	spec := crawlspec.Default()
	spec.Delay, spec.PerHost = 0, 16
	c, err := t.newCrawl("measure", spec, testweb.Config{
		Seed: o.Seed, Hosts: o.Hosts, PagesPerHost: o.Pages, CrossHostLinks: 0.2, RobotsTxt: testweb.RobotsMissing,
	})
	if err != nil {
		return nil, err
	}
	defer c.Close()
	before, err := t.cpu()
	if err != nil {
		return nil, err
	}
	_, sent := t.network.Carried()
	began := time.Now()
	quiet := func(string) {}
	if err := c.Feed(ctx, t.bus); err != nil {
		return nil, err
	}
	counters, err := c.Await(ctx, t.bus, quiet)
	if err != nil {
		return nil, err
	}
	took := time.Since(began)
	after, err := t.cpu()
	if err != nil {
		return nil, err
	}
	_, sentThen := t.network.Carried()
	pages := float64(c.Pages())
	got := &costs{rate: pages / took.Seconds(), cpu: make(map[string]float64), sent: float64(sentThen-sent) / pages, pages: c.Pages()}
	for role, seconds := range after {
		got.cpu[role] = 1000 * (seconds - before[role]) / pages
	}
	return got, c.Check(ctx, t.bus, counters, t.outputs, t.tell, quiet)
}

// cpu is the time in seconds that the processes of each role have had.
func (t *testbed) cpu() (map[string]float64, error) {
	used := make(map[string]float64)
	for _, p := range t.processes {
		seconds, err := proc.CPU(p.ID())
		if err != nil {
			return nil, err
		}
		used[p.Role] += seconds
	}
	seconds, err := proc.CPU(os.Getpid())
	used[roleSelf] = seconds
	return used, err
}

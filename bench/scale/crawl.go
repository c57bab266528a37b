package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"seine/bench/fleet"
	"seine/bench/proc"
	"seine/internal/base/sleep"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/frontier/frontierapi"
)

// crawlName is that of the crawl that is measured.
const crawlName = "bench"

// crawlCosts are what one crawl cost, for each page unless it says otherwise.
type crawlCosts struct {
	pages    int64              // in all
	rate     float64            // pages per second
	cpu      map[string]float64 // ms, by part
	messages map[string]float64 // by stream
	bytes    map[string]float64 // by stream, as stored; what is in FETCH goes with each request
	in, out  float64            // bytes that the servers had and sent, among themselves too
	broker   float64            // bytes on the disks of all servers
	output   float64            // bytes of committed files
}

func (f *crawlCosts) total() (ms float64) {
	for _, v := range f.cpu {
		ms += v
	}
	return ms
}

// crawl does one crawl by a setup.
func (o *options) crawl(ctx context.Context, bin, work string, s setup) (f *crawlCosts, err error) {
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	folder, err := os.MkdirTemp(work, "run-")
	if err != nil {
		return nil, fmt.Errorf("make folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	c := &cluster{setup: s, bin: bin, dir: folder, fail: fail, processes: make(map[string][]*proc.Process)}
	defer c.stop()
	f, err = c.measure(ctx, o)
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return nil, cause // a process that died, or an interrupt, says more than what failed because of it
	}
	return f, err
}

func (c *cluster) measure(ctx context.Context, o *options) (*crawlCosts, error) {
	if err := c.startNATS(); err != nil {
		return nil, err
	}
	if err := c.awaitNATS(ctx); err != nil {
		return nil, err
	}
	if err := c.startStages(o); err != nil {
		return nil, err
	}
	if err := c.join(ctx); err != nil {
		return nil, err
	}
	cpu, err := c.cpu()
	if err != nil {
		return nil, err
	}
	in, out, err := c.traffic(ctx)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	if err := c.seed(ctx, o.Hosts); err != nil {
		return nil, err
	}
	counters, err := c.finish(ctx)
	if err != nil {
		return nil, err
	}
	took := time.Since(began)
	pages := float64(counters.Pages)
	f := &crawlCosts{pages: counters.Pages, rate: pages / took.Seconds(), cpu: make(map[string]float64), messages: make(map[string]float64), bytes: make(map[string]float64)}
	after, err := c.cpu()
	if err != nil {
		return nil, err
	}
	for part, seconds := range after {
		f.cpu[part] = 1000 * (seconds - cpu[part]) / pages
	}
	in2, out2, err := c.traffic(ctx)
	if err != nil {
		return nil, err
	}
	f.in, f.out = (in2-in)/pages, (out2-out)/pages
	if err := c.streams(ctx, f, pages); err != nil {
		return nil, err
	}
	f.broker = float64(proc.Size(filepath.Join(c.dir, "nats"))) / pages
	f.output = float64(proc.Size(c.out())) / pages
	return f, nil
}

// seed begins the crawl.
func (c *cluster) seed(ctx context.Context, hosts int) error {
	specs, err := stages.OpenSpecs(ctx, c.bus)
	if err != nil {
		return fmt.Errorf("open specs: %w", err)
	}
	spec := crawlspec.Default()
	spec.Delay, spec.PerHost, spec.AllowPrivate, spec.Robots = 0, 16, true, crawlspec.RobotsIgnore
	if _, err := specs.Put(ctx, crawlName, &spec); err != nil {
		return fmt.Errorf("store spec: %w", err)
	}
	var urls []string
	for h := range hosts {
		urls = append(urls, fmt.Sprintf("http://h%d.localhost:%s/", h, c.webPort))
	}
	m := nats.NewMsg(messages.SubjectSeeds(crawlName))
	m.Data = []byte(strings.Join(urls, "\n"))
	if err := stages.NewPublisher(c.bus, "bench").Publish(ctx, m); err != nil {
		return fmt.Errorf("publish seeds: %w", err)
	}
	return nil
}

// finish waits until the crawl is complete and all of it is committed, and checks that each page is there once.
func (c *cluster) finish(ctx context.Context) (frontierapi.Counters, error) {
	for {
		end, n, err := frontierapi.Client{Bus: c.bus}.CheckEnded(ctx, crawlName, new(crawlspec.Spec))
		if err == nil && end == frontierapi.Complete {
			found, err := fleet.Records(c.out())
			records := int64(found)
			if err != nil || records > n.Pages {
				return n.Counters, fmt.Errorf("%d records of %d pages: %w", records, n.Pages, err)
			}
			if records == n.Pages {
				return n.Counters, nil
			}
		}
		if sleep.For(ctx, 50*time.Millisecond) != nil {
			return n.Counters, fmt.Errorf("wait for the end: %w", context.Cause(ctx))
		}
	}
}

// cpu is the time in seconds that each part has had.
func (c *cluster) cpu() (map[string]float64, error) {
	used := make(map[string]float64)
	for _, part := range parts {
		for _, p := range c.processes[part] {
			seconds, err := proc.CPU(p.PID())
			if err != nil {
				return nil, err
			}
			used[part] += seconds
		}
	}
	return used, nil
}

// traffic is what the servers have had and sent, in bytes: clients' and each other's.
func (c *cluster) traffic(ctx context.Context) (in, out float64, err error) {
	for _, m := range c.monitors {
		text, err := proc.Get(ctx, m+"/varz")
		if err != nil {
			return 0, 0, fmt.Errorf("ask NATS: %w", err)
		}
		var v struct {
			In  float64 `json:"in_bytes"`
			Out float64 `json:"out_bytes"`
		}
		if err := json.Unmarshal(text, &v); err != nil {
			return 0, 0, fmt.Errorf("ask NATS: %w", err)
		}
		in, out = in+v.In, out+v.Out
	}
	return in, out, nil
}

// streams reads what is in the streams: nothing of so short a crawl was purged.
func (c *cluster) streams(ctx context.Context, f *crawlCosts, pages float64) error {
	for _, s := range messages.Streams(messages.DefaultStreamLimits(), 1) {
		st, err := c.bus.JS.Stream(ctx, s.Name)
		if err != nil {
			return fmt.Errorf("inspect stream %s: %w", s.Name, err)
		}
		state := st.CachedInfo().State
		f.messages[s.Name] = float64(state.LastSeq) / pages
		f.bytes[s.Name] = float64(state.Bytes) / pages
	}
	return nil
}

func ownerOf(lease []byte) string {
	var v struct {
		Owner string `json:"owner"`
	}
	_ = json.Unmarshal(lease, &v)
	return v.Owner
}

// Command fetch measures the fetcher alone, as a process: a nats-server carries requests to it and takes its pages and
// results, and a process of its own stands for the web. Nothing else runs: requests are published as a frontier does.
//
//	cd bench && go run ./fetch slow      # 1000 hosts that answer in 200 ms: how near to the ideal, in how much memory
//	cd bench && go run ./fetch bodies    # the same with bodies of 1 MB: does the memory for bodies hold
//	cd bench && go run ./fetch linear    # one, two and four fetchers that do nothing but wait
//	cd bench && go run ./fetch cpu       # CPU for a page beside a loop around net/http
//
// Each prints what it measured, and fails if that misses its limit. After each run every request must have exactly one
// result and, as it was fetched well, one page; and the web must have seen each exactly once.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"seine/bench/proc"
)

// What is measured, and the commands of the processes that this one starts of itself.
const (
	measureSlow   = "slow"
	measureBodies = "bodies"
	measureLinear = "linear"
	measureCPU    = "cpu"

	commandServe = "serve" // is the web
	commandGet   = "get"   // is the loop around net/http
)

// options are the command line.
type options struct {
	Hosts       int
	Latency     time.Duration
	Workers     int
	Warmup      time.Duration
	Window      time.Duration
	Budget      int // MiB
	Dir         string
	Rounds      int
	Pages       int
	FetcherArgs string

	CPUProfile, HeapProfile string
	Keep                    bool

	MinShare, MaxRSS, MaxOver, MaxRatio float64
}

func main() { proc.Main("fetch", run) }

func parseOptions(what string, args []string) (o options, err error) {
	f := flag.NewFlagSet("fetch "+what, flag.ContinueOnError)
	workers := map[string]int{measureSlow: 2000, measureBodies: 2000, measureLinear: 100, measureCPU: 64}[what]
	f.IntVar(&o.Hosts, "hosts", 1000, "slow, bodies, linear: `number` of hosts")
	f.DurationVar(&o.Latency, "latency", 200*time.Millisecond, "slow, bodies, linear: `time` that a host takes to answer")
	f.IntVar(&o.Workers, "workers", workers, "requests at a time of a fetcher, and of the loop around net/http")
	f.DurationVar(&o.Warmup, "warmup", 5*time.Second, "slow, bodies, linear: `time` before the measurement")
	f.DurationVar(&o.Window, "seconds", 20*time.Second, "slow, bodies, linear: `time` to measure")
	f.IntVar(&o.Budget, "budget", 200, "bodies: --max-in-flight-body, in `MiB`")
	f.StringVar(&o.Dir, "dir", "/usr/share/doc/postgresql-doc-15/html", "cpu: `folder` with the HTML files to fetch (make sites brings it to ../.cache/sites)")
	f.IntVar(&o.Rounds, "rounds", 7, "cpu: `number` of rounds, after one to warm up")
	f.IntVar(&o.Pages, "pages", 20_000, "cpu: `number` of pages of a round")
	f.StringVar(&o.FetcherArgs, "fetcher-args", "", "more `arguments` for the fetcher")
	f.StringVar(&o.CPUProfile, "cpuprofile", "", "write the fetcher's CPU profile to this `file`")
	f.StringVar(&o.HeapProfile, "heapprofile", "", "slow, bodies: write the fetcher's heap profile to this `file`")
	f.BoolVar(&o.Keep, "keep", false, "keep the work folder with the logs, and say where")
	f.Float64Var(&o.MinShare, "min-share", 0.8, "slow: fail below this `part` of the ideal rate")
	f.Float64Var(&o.MaxRSS, "max-rss", 400, "slow: fail if the fetcher's RSS is more `MB`")
	f.Float64Var(&o.MaxOver, "max-over", 1, "bodies: fail if RSS grows by more than this `part` of the budget")
	f.Float64Var(&o.MaxRatio, "max-ratio", 2, "cpu: fail if a page takes more `times` the CPU of the loop around net/http")
	if err := f.Parse(args); err != nil {
		return o, fmt.Errorf("read flags: %w", err)
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	return o, o.check()
}

// check names the first option that is wrong, and what would be right.
func (o *options) check() error {
	switch {
	case o.Hosts < 1 || o.Hosts > 100_000:
		return errors.New("-hosts: from 1 to 100000")
	case o.Latency < time.Millisecond || o.Latency > time.Minute:
		return errors.New("-latency: from 1ms to 1m")
	case o.Workers < 1 || o.Workers > 16384:
		return errors.New("-workers: from 1 to 16384")
	case o.Warmup < 0 || o.Warmup > time.Hour || o.Window < time.Second || o.Window > time.Hour:
		return errors.New("-warmup: from 0 to 1h; -seconds: from 1s to 1h")
	case o.Budget < 1:
		return errors.New("-budget: from 1")
	case o.Rounds < 1 || o.Pages < 1:
		return errors.New("-rounds, -pages: from 1")
	}
	return nil
}

var errUsage = errors.New("usage: fetch slow|bodies|linear|cpu [flags] (-help lists them)")

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errUsage
	}
	switch args[0] {
	case commandServe:
		return serve(args[1:])
	case commandGet:
		return get(args[1:])
	}
	measures := map[string]func(*bench, context.Context) error{
		measureSlow: (*bench).slow, measureBodies: (*bench).bodies, measureLinear: (*bench).linear, measureCPU: (*bench).cpu,
	}
	measure, ok := measures[args[0]]
	if !ok {
		return errUsage
	}
	o, err := parseOptions(args[0], args[1:])
	if err != nil {
		return err
	}
	return proc.InWorkFolder(ctx, "fetch", "", o.Keep, func(ctx context.Context, work string, fail context.CancelCauseFunc) error {
		bin, err := proc.Build(ctx, work, "fetcher")
		if err != nil {
			return err
		}
		return measure(&bench{options: o, bin: bin, work: work, fail: fail}, ctx)
	})
}

// bench is one run of the program.
type bench struct {
	options
	bin, work string
	fail      context.CancelCauseFunc // ends everything
}

// ideal is the rate at which workers could go if nothing but the hosts took time.
func (o *options) ideal(fetchers int) float64 {
	return float64(fetchers*o.Workers) / o.Latency.Seconds()
}

// enough is the number of requests for the warm-up and the measurement at the ideal rate, and some more.
func (o *options) enough(fetchers int) int {
	return int(o.ideal(fetchers)*(o.Warmup+o.Window).Seconds()*1.1) + 2*fetchers*o.Workers
}

// median is the middle of some figures, and the least and the most of them.
func median(figures []float64) (middle, least, most float64) {
	s := slices.Sorted(slices.Values(figures))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2, s[0], s[len(s)-1]
}

// folder is a new one for a run.
func (b *bench) folder() (string, error) {
	dir, err := os.MkdirTemp(b.work, "run-")
	if err != nil {
		return "", fmt.Errorf("make run folder: %w", err)
	}
	return filepath.Clean(dir), nil
}

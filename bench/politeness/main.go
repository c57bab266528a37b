// Command politeness measures how close to its own limits Seine crawls many hosts, that it never crosses them, and what
// CPU a page costs meanwhile: all stages as processes of their own, over a nats-server, or `seine crawl` alone, against
// the test web, whose log alone is trusted.
//
//	cd bench && go run ./politeness                  # one fetcher, three, and three with the frontier killed midway
//	cd bench && go run ./politeness -fetchers 3 -kill
//	cd bench && go run ./politeness -faults          # hosts that refuse, die and are slow beside such that are well
//	cd bench && go run ./politeness -one -hosts 1000 # the whole crawl in one process
//	cd bench && go run ./politeness -bin DIR         # commands of another build, with its nats-server
//
// A gap is the time from the end of a response, as the server saw it, to the start of the next request to that host, be
// it for robots.txt. The ideal is a request per host and delay, as if responses took no time.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"time"

	"seine/bench/fleet"
	"seine/bench/proc"
)

// options are the command line.
type options struct {
	Hosts    int
	Delay    time.Duration
	Window   time.Duration
	Warmup   time.Duration
	Fetchers int
	Kill     bool
	Trace    bool
	Faults   bool
	One      bool
	Profile  string
	Bin      string
	PageSize int
	Latency  time.Duration
	Keep     bool
}

func main() { proc.Main("politeness", run) }

// parseOptions reads the command line, and whether that is about a single crawl.
func parseOptions(args []string) (o options, single bool, err error) {
	f := flag.NewFlagSet("politeness", flag.ContinueOnError)
	f.IntVar(&o.Hosts, "hosts", 500, "`number` of hosts")
	f.DurationVar(&o.Delay, "delay", time.Second, "least time between a response and the next request to its host")
	f.DurationVar(&o.Window, "seconds", time.Minute, "`time` to measure")
	f.DurationVar(&o.Warmup, "warmup", 15*time.Second, "`time` before that, for robots.txt and the first pages")
	f.IntVar(&o.Fetchers, "fetchers", 1, "`number` of fetchers")
	f.BoolVar(&o.Kill, "kill", false, "kill the frontier (SIGKILL) midway, and start it again at once")
	f.BoolVar(&o.Trace, "trace", false, "watch the streams, and tell where the time between two requests goes")
	f.BoolVar(&o.Faults, "faults", false, "make some hosts refuse, die and be slow, and compare the others before and meanwhile")
	f.BoolVar(&o.One, "one", false, "crawl by one process, seine crawl")
	f.StringVar(&o.Profile, "profile", "", "with -one, write a CPU profile of its whole life to this `file`")
	f.StringVar(&o.Bin, "bin", "", "`folder` with the commands and nats-server, built before; else they are built")
	f.IntVar(&o.PageSize, "page-bytes", 8<<10, "median `size` of a page")
	f.DurationVar(&o.Latency, "latency", 0, "`time` that each host takes to answer")
	f.BoolVar(&o.Keep, "keep", false, "keep the work folder with the logs of the stages, and say where")
	if err := f.Parse(args); err != nil {
		return o, false, fmt.Errorf("read flags: %w", err)
	}
	stages := false
	f.Visit(func(g *flag.Flag) { stages = stages || g.Name == "fetchers" || g.Name == "kill" || g.Name == "faults" })
	switch {
	case f.NArg() > 0:
		return o, single, fmt.Errorf("unexpected argument %q", f.Arg(0))
	case o.One && (stages || o.Trace):
		return o, single, errors.New("-one: without -fetchers, -kill, -trace and -faults, which are about stages")
	case o.Profile != "" && !o.One:
		return o, single, errors.New("-profile: needs -one")
	case o.Hosts < 1 || o.Hosts > 10_000:
		return o, single, errors.New("-hosts: from 1 to 10000")
	case o.Delay < time.Millisecond:
		return o, single, errors.New("-delay: at least 1ms")
	case o.Window < worstOver || o.Window > time.Hour:
		return o, single, fmt.Errorf("-seconds: from %s to 1h", worstOver)
	case o.Fetchers < 1 || o.Fetchers > 64:
		return o, single, errors.New("-fetchers: from 1 to 64")
	}
	return o, stages || o.One, nil
}

func run(ctx context.Context, args []string) error {
	o, single, err := parseOptions(args)
	if err != nil {
		return err
	}
	return proc.InWorkFolder(ctx, "politeness", "", o.Keep, func(ctx context.Context, work string, fail context.CancelCauseFunc) error {
		bin, err := proc.Commands(ctx, work, o.Bin, fleet.Commands()...)
		if err != nil {
			return err
		}
		b := &bench{options: o, bin: bin, work: work, fail: fail}
		if o.Faults {
			return b.faults(ctx)
		}
		return b.table(ctx, single)
	})
}

// bench is one or several crawls.
type bench struct {
	options
	bin, work string
	fail      context.CancelCauseFunc // ends everything
}

// table makes the crawls of the table, or a single one as the options say.
func (b bench) table(ctx context.Context, single bool) error {
	runs := []bench{b}
	if !single {
		three := b
		three.Fetchers = 3
		killed := three
		killed.Kill = true
		runs = append(runs, three, killed)
	}
	header()
	violated := 0
	for _, b := range runs {
		n, err := b.efficiency(ctx)
		if err != nil {
			return err
		}
		violated += n
	}
	if violated > 0 {
		return fmt.Errorf("%d gaps are shorter than the delay", violated)
	}
	return nil
}

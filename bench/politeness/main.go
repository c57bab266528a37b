// Command politeness measures how close to its own limits Seine crawls many hosts, and that it never crosses them: all
// stages as processes of their own, over a nats-server, against the test web, whose log alone is trusted.
//
//	cd bench && go run ./politeness                  # one fetcher, three, and three with the frontier killed midway
//	cd bench && go run ./politeness -fetchers 3 -kill
//	cd bench && go run ./politeness -faults          # hosts that refuse, die and are slow beside such that are well
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
	PageSize int
	Latency  time.Duration
	Keep     bool
}

func main() { proc.Main("politeness", run) }

func parseOptions(args []string) (o options, one bool, err error) {
	f := flag.NewFlagSet("politeness", flag.ContinueOnError)
	f.IntVar(&o.Hosts, "hosts", 500, "`number` of hosts")
	f.DurationVar(&o.Delay, "delay", time.Second, "least time between a response and the next request to its host")
	f.DurationVar(&o.Window, "seconds", time.Minute, "`time` to measure")
	f.DurationVar(&o.Warmup, "warmup", 15*time.Second, "`time` before that, for robots.txt and the first pages")
	f.IntVar(&o.Fetchers, "fetchers", 1, "`number` of fetchers")
	f.BoolVar(&o.Kill, "kill", false, "kill the frontier (SIGKILL) midway, and start it again at once")
	f.BoolVar(&o.Trace, "trace", false, "watch the streams, and tell where the time between two requests goes")
	f.BoolVar(&o.Faults, "faults", false, "make some hosts refuse, die and be slow, and compare the others before and meanwhile")
	f.IntVar(&o.PageSize, "page-bytes", 8<<10, "median `size` of a page")
	f.DurationVar(&o.Latency, "latency", 0, "`time` that each host takes to answer")
	f.BoolVar(&o.Keep, "keep", false, "keep the work folder with the logs of the stages, and say where")
	if err := f.Parse(args); err != nil {
		return o, false, fmt.Errorf("read flags: %w", err)
	}
	f.Visit(func(g *flag.Flag) { one = one || g.Name == "fetchers" || g.Name == "kill" || g.Name == "faults" })
	switch {
	case f.NArg() > 0:
		return o, one, fmt.Errorf("unexpected argument %q", f.Arg(0))
	case o.Hosts < 1 || o.Hosts > 10_000:
		return o, one, errors.New("-hosts: from 1 to 10000")
	case o.Delay < time.Millisecond:
		return o, one, errors.New("-delay: at least 1ms")
	case o.Window < worstOver || o.Window > time.Hour:
		return o, one, fmt.Errorf("-seconds: from %s to 1h", worstOver)
	case o.Fetchers < 1 || o.Fetchers > 64:
		return o, one, errors.New("-fetchers: from 1 to 64")
	}
	return o, one, nil
}

func run(ctx context.Context, args []string) error {
	o, one, err := parseOptions(args)
	if err != nil {
		return err
	}
	return proc.InWorkFolder(ctx, "politeness", "", o.Keep, func(ctx context.Context, work string, _ context.CancelCauseFunc) error {
		return table(ctx, &o, one, work)
	})
}

// table makes the crawls of the table, or one as the options say.
func table(ctx context.Context, o *options, one bool, work string) error {
	bin, err := proc.Build(ctx, work, "seine", "frontier", "fetcher", "parser", "writer")
	if err != nil {
		return err
	}
	if o.Faults {
		return faults(ctx, *o, bin, work)
	}
	runs := []options{*o}
	if !one {
		three := *o
		three.Fetchers = 3
		killed := three
		killed.Kill = true
		runs = append(runs, three, killed)
	}
	header()
	violated := 0
	for _, o := range runs {
		n, err := efficiency(ctx, o, bin, work)
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

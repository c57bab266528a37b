// Command stages measures Seine at full speed: crawls of a generated web without delays, from nothing each time, by a
// nats-server and one process of each stage, or by `seine crawl` alone. It prints how many pages came a second, by the
// web's log, and what CPU a page costs each kind of process.
//
//	cd bench && go run ./stages                          # of this tree
//	cd bench && go run ./stages -one                     # in one process
//	cd bench && go run ./stages -chain                   # by a fetcher that parses its pages itself; of two builds, by A alone
//	cd bench && go run ./stages -runs 5 -bin A -beside B # two builds in turn
//
// Pages are requests, those for robots.txt among them. The stages are measured from the seeds to the last record, the one
// process in all of its life. A run fails unless each page was written once. The folder of a build has all commands and
// nats-server, as this makes it in its checkout:
//
//	CGO_ENABLED=0 go build -o A/ ./cmd/... github.com/nats-io/nats-server/v2
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"seine/bench/fleet"
	"seine/bench/proc"
)

// options are the command line.
type options struct {
	Bin      string
	Beside   string
	Runs     int
	One      bool
	Chain    bool
	Hosts    int
	Pages    int // per host
	PageSize int
	Keep     bool
}

func main() { proc.Main("stages", run) }

func parseOptions(args []string) (o options, err error) {
	f := flag.NewFlagSet("stages", flag.ContinueOnError)
	f.StringVar(&o.Bin, "bin", "", "`folder` with the commands and nats-server, built before; else they are built")
	f.StringVar(&o.Beside, "beside", "", "run those of this `folder` too, in turn")
	f.IntVar(&o.Runs, "runs", 3, "`number` of runs of each build")
	f.BoolVar(&o.One, "one", false, "crawl by one process, seine crawl")
	f.BoolVar(&o.Chain, "chain", false, "have the fetcher parse its pages itself, without a parser; with -beside, that of -bin alone")
	f.IntVar(&o.Hosts, "hosts", 200, "`number` of hosts")
	f.IntVar(&o.Pages, "pages", 50, "`number` of pages of each host")
	f.IntVar(&o.PageSize, "page-bytes", 8<<10, "median `size` of a page")
	f.BoolVar(&o.Keep, "keep", false, "keep the work folder with the logs of the stages, and say where")
	if err := f.Parse(args); err != nil {
		return o, fmt.Errorf("read flags: %w", err)
	}
	switch {
	case f.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q", f.Arg(0))
	case o.Runs < 1 || o.Hosts < 1 || o.Pages < 1:
		return o, errors.New("-runs, -hosts, -pages: from 1")
	}
	return o, nil
}

func run(ctx context.Context, args []string) error {
	o, err := parseOptions(args)
	if err != nil {
		return err
	}
	return proc.InWorkFolder(ctx, "stages", "", o.Keep, func(ctx context.Context, work string, fail context.CancelCauseFunc) error {
		return o.measure(ctx, work, fail)
	})
}

// buildNames are those of the builds, in the order they run.
var buildNames = []string{"A", "B"}

// timeout is for one run.
const timeout = 5 * time.Minute

// measure runs the builds in turn, and prints what came of it.
func (o *options) measure(ctx context.Context, work string, fail context.CancelCauseFunc) error {
	bin, err := proc.Commands(ctx, work, o.Bin, fleet.Commands()...)
	if err != nil {
		return err
	}
	builds := []string{bin}
	if o.Beside != "" {
		if bin, err = proc.Commands(ctx, work, o.Beside, fleet.Commands()...); err != nil {
			return err
		}
		builds = append(builds, bin)
	}
	runs := make([][]figures, len(builds))
	var names []string
	for round := range o.Runs {
		for i, bin := range builds {
			rate, cpu, err := o.crawl(ctx, fail, bin, work, o.Chain && i == 0)
			if err != nil {
				return fmt.Errorf("run %d of %s: %w", round+1, bin, err)
			}
			fmt.Fprintf(os.Stderr, "%d %s: %.0f pages/s, CPU ms/page %s\n", round+1, buildNames[i], rate, cpu)
			runs[i] = append(runs[i], figuresOf(rate, cpu))
			names = columns(cpu)
		}
	}
	report(os.Stdout, names, runs)
	return nil
}

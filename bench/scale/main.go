// Command scale measures what a page costs each stage and the broker, and how that changes with the number of
// partitions, of processes of each stage, and of replicas: crawls of a generated web by real processes, from nothing each
// time, the setups of a plan in turn.
//
//	cd bench && go run ./scale                     # plan replicas: R1 on one server and on three, R3
//	cd bench && go run ./scale -plan fetchers      # or partitions, frontiers, parsers, writers
//
// It prints medians as tables for docs/scale.md, and what they mean for crawls of 10 million pages and more. A run fails
// unless each page was counted and written once.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"seine/bench/proc"
)

// options are the command line.
type options struct {
	Plan    string
	Rounds  int
	Hosts   int
	Pages   int // per host
	Bytes   int // of a page, in the median
	Days    float64
	Known   float64
	URLDisk float64
	Busy    float64
	Work    string
	Timeout time.Duration
}

func main() { proc.Main("scale", run) }

func parseOptions(args []string) (o options, err error) {
	f := flag.NewFlagSet("scale", flag.ContinueOnError)
	f.StringVar(&o.Plan, "plan", "replicas", "what is to vary: "+strings.Join(planNames(), ", "))
	f.IntVar(&o.Rounds, "rounds", 3, "`number` of rounds; in each, every setup of the plan has its turn")
	f.IntVar(&o.Hosts, "hosts", 64, "`number` of hosts of the web")
	f.IntVar(&o.Pages, "pages", 50, "`number` of pages of each host")
	f.IntVar(&o.Bytes, "page-bytes", 16<<10, "median `size` of a page")
	f.Float64Var(&o.Days, "days", 30, "`days` that the crawls of the last table may take")
	f.Float64Var(&o.Known, "known", 10, "URLs known for each page fetched, in the last table")
	f.Float64Var(&o.URLDisk, "url-disk", 114, "`bytes` on the frontier's disk for each known URL, in the last table (114: bench/frontier, at 10 million)")
	f.Float64Var(&o.Busy, "busy", 0.6, "`share` of its time that a core is to work, in the last table")
	f.StringVar(&o.Work, "work", "", "`folder` for everything, on the disk that is to be measured; else one for temporary files")
	f.DurationVar(&o.Timeout, "timeout", 5*time.Minute, "most time for one run")
	if err := f.Parse(args); err != nil {
		return o, fmt.Errorf("read flags: %w", err)
	}
	switch {
	case f.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q", f.Arg(0))
	case !slices.Contains(planNames(), o.Plan):
		return o, fmt.Errorf("-plan %q: there are %s", o.Plan, strings.Join(planNames(), ", "))
	case o.Rounds < 1 || o.Hosts < 1 || o.Pages < 1 || o.Bytes < 256:
		return o, errors.New("-rounds, -hosts, -pages: from 1; -page-bytes: from 256")
	case o.Days <= 0 || o.Known < 1 || o.URLDisk < 0 || o.Busy <= 0 || o.Busy > 1:
		return o, errors.New("-days: more than 0; -known: from 1; -url-disk: from 0; -busy: more than 0, to 1")
	}
	return o, nil
}

func run(ctx context.Context, args []string) error {
	o, err := parseOptions(args)
	if err != nil {
		return err
	}
	return proc.InWorkFolder(ctx, "scale", o.Work, false, func(ctx context.Context, work string, _ context.CancelCauseFunc) error {
		return o.measure(ctx, work, strings.Join(args, " "))
	})
}

// measure runs the setups of the plan in turn, and prints what came of it.
func (o *options) measure(ctx context.Context, work, args string) error {
	bin, err := proc.Build(ctx, work, "frontier", "fetcher", "parser", "writer", "testweb")
	if err != nil {
		return err
	}
	setups := plans[o.Plan]
	runs := make([][]*crawlCosts, len(setups))
	for round := range o.Rounds {
		for i, s := range setups {
			f, err := o.crawl(ctx, bin, work, s)
			if err != nil {
				return fmt.Errorf("round %d, %s: %w", round+1, s.name, err)
			}
			if want := runs[0]; len(want) > 0 && f.pages != want[0].pages {
				return fmt.Errorf("round %d, %s: %d pages, another run had %d of the same web", round+1, s.name, f.pages, want[0].pages)
			}
			fmt.Fprintf(os.Stderr, "%d %-28s %6.0f pages/s %5.2f CPU ms/page\n", round+1, s.name, f.rate, f.total())
			runs[i] = append(runs[i], f)
		}
	}
	fmt.Printf("`go run ./scale %s`: %d hosts of %d pages of %d bytes in the median, %d rounds\n\n",
		args, o.Hosts, o.Pages, o.Bytes, o.Rounds)
	report(os.Stdout, setups, runs)
	o.model(os.Stdout, setups, runs)
	return nil
}

// Command bench crawls one site on this machine with Seine and with other crawlers, in alternating runs, and prints
// what each needed for it, as medians and ready for docs/benchmarks.md.
//
//	cd bench && go run . [flags]
//
// Whom to trust: the site counts the pages it has served, so no crawler's own count is used; time, CPU and memory come
// from the kernel when a crawler's process has ended. The site runs in a process of its own, whose CPU time is not
// counted as the crawlers', but it shares the machine's cores with them.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"seine/bench/others"
)

// serveCommand is the hidden first argument that makes this program the site.
const serveCommand = "serve"

// options are the command line.
type options struct {
	Runs     int
	Parallel int
	Only     string
	Beside   string
	Keep     bool
	Profile  string
	Timeout  time.Duration
	Site     siteOptions
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var err error
	if args := os.Args[1:]; len(args) > 0 && args[0] == serveCommand {
		err = serve(args[1:])
	} else {
		err = bench(ctx, args)
	}
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// parseOptions reads and checks the command line.
func parseOptions(args []string) (options, error) {
	var o options
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.IntVar(&o.Runs, "runs", 5, "`number` of runs of each crawler")
	f.IntVar(&o.Parallel, "parallel", 16, "`number` of requests at a time")
	f.StringVar(&o.Only, "only", "", "comma-separated `list` of crawlers, of: "+others.Names(crawlers))
	f.StringVar(&o.Beside, "beside", "", "run this other `build` of Seine too, as in bin/seine of another checkout")
	f.BoolVar(&o.Keep, "keep", false, "keep what the crawlers write, and say where")
	f.StringVar(&o.Profile, "profile", "", "write a CPU profile of one more run of Seine to this `file`")
	f.DurationVar(&o.Timeout, "timeout", 2*time.Minute, "most time for one run")
	o.Site.flags(f)
	if err := f.Parse(args); err != nil {
		return o, fmt.Errorf("read flags: %w", err)
	}
	switch {
	case f.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q", f.Arg(0))
	case o.Runs < 1 || o.Runs > 100:
		return o, errors.New("--runs: from 1 to 100")
	case o.Parallel < 1 || o.Parallel > 256:
		return o, errors.New("--parallel: from 1 to 256")
	case o.Timeout < time.Second || o.Timeout > time.Hour:
		return o, errors.New("--timeout: from 1s to 1h")
	}
	return o, o.Site.check()
}

// bench is the whole program but for the site. Cut short by a signal, it reports what it has.
func bench(ctx context.Context, args []string) error {
	o, err := parseOptions(args)
	if err != nil {
		return err
	}
	chosen, err := others.Choose("--only", o.Only, crawlers)
	if err != nil {
		return err
	}
	if o.Beside != "" {
		path, err := filepath.Abs(o.Beside)
		if err != nil {
			return fmt.Errorf("--beside: %w", err)
		}
		chosen = append(slices.Clone(chosen), baselineSeine{path})
	}
	if o.Profile != "" && !slices.Contains(chosen, others.Crawler(seine{})) {
		return errors.New("--profile: --only leaves out seine")
	}
	b, err := newRunner(o)
	if err != nil {
		return err
	}
	defer b.close()
	if err := b.prepare(ctx, chosen); err != nil {
		return err
	}
	if err := b.startSite(ctx); err != nil {
		return err
	}
	err = b.measure(ctx)
	report(os.Stdout, b.describe(ctx, args), b.entries)
	return err
}

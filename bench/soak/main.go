// Command soak crawls the test web again and again with real processes, a cluster of three NATS servers among them, breaks
// everything at random meanwhile, and checks what docs/contract.md promises.
//
//	make soak                                  # ten minutes
//	make soak DURATION=1h SEED=7               # the same faults in the same order
//	cd bench && go run ./soak -help
//
// Between each stage and each server, and between the servers, is a proxy that can cut, hold back and delay. Every crawl
// is of a web of its own, and is compared with it exactly once it is complete. The log of the test web alone is trusted for
// the distance between requests. Full disks need root, for small file systems in memory.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"seine/bench/contract"
	"seine/bench/proc"
)

// options are the command line.
type options struct {
	Duration                              time.Duration
	Seed                                  uint64
	Every                                 time.Duration
	Hosts, Pages                          int
	Delay                                 time.Duration
	Frontiers, Fetchers, Parsers, Writers int
	Chained, Renderers                    int
	Clocks, Keep                          bool
	Dir, Only                             string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	switch err := run(ctx, os.Args[1:]); {
	case errors.Is(err, flag.ErrHelp):
	case err != nil && ctx.Err() != nil:
		fmt.Fprintln(os.Stderr, "soak: interrupted")
		os.Exit(4)
	case err != nil:
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

func parseOptions(args []string) (o options, err error) {
	f := flag.NewFlagSet("soak", flag.ContinueOnError)
	f.DurationVar(&o.Duration, "duration", 10*time.Minute, "how long to make faults; the last crawl ends after that")
	f.Uint64Var(&o.Seed, "seed", 0, "of the webs and faults; 0 is a random one, which is printed")
	f.DurationVar(&o.Every, "every", 4*time.Second, "mean `time` between two faults")
	f.StringVar(&o.Only, "only", "", "only faults with words in their kind that begin so, such as \"net cut\" or browser")
	f.IntVar(&o.Hosts, "hosts", 16, "`number` of hosts of each web")
	f.IntVar(&o.Pages, "pages", 40, "`number` of pages of each host")
	f.DurationVar(&o.Delay, "delay", 400*time.Millisecond, "least time between a response and the next request to its host")
	f.IntVar(&o.Frontiers, "frontiers", 2, "`number` of frontiers, from 1 to 3")
	f.IntVar(&o.Fetchers, "fetchers", 2, "`number` of fetchers, from 1 to 3")
	f.IntVar(&o.Chained, "chained", 1, "`number` of fetchers that parse their pages themselves, of those that run and those added")
	f.IntVar(&o.Renderers, "renderers", 0, "`number` of renderers, from 1 to 3: every page is shown in a browser, and browsers break, too; 0 renders nothing")
	f.IntVar(&o.Parsers, "parsers", 2, "`number` of parsers, from 1 to 3")
	f.IntVar(&o.Writers, "writers", 2, "`number` of writers into a directory, from 1 to 3")
	f.BoolVar(&o.Clocks, "clocks", true, "set clocks, too: builds the commands with a standard library of its own")
	f.StringVar(&o.Dir, "dir", os.TempDir(), "where to make the work `folder`")
	f.BoolVar(&o.Keep, "keep", false, "keep the work folder even if nothing was wrong")
	if err := f.Parse(args); err != nil {
		return o, fmt.Errorf("read flags: %w", err)
	}
	if o.Seed == 0 {
		o.Seed = rand.Uint64N(1_000_000) + 1 //nolint:gosec // to be typed again
	}
	switch {
	case f.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q", f.Arg(0))
	case o.Duration < 10*time.Second || o.Duration > 30*24*time.Hour:
		return o, errors.New("-duration: from 10s to 720h")
	case o.Every < 100*time.Millisecond:
		return o, errors.New("-every: at least 100ms")
	case o.Hosts < 1 || o.Hosts > 500 || o.Pages < 2 || o.Pages > 10_000:
		return o, errors.New("-hosts: from 1 to 500; -pages: from 2 to 10000")
	case o.Delay < 10*time.Millisecond:
		return o, errors.New("-delay: at least 10ms")
	}
	for name, n := range map[string]int{"chained": o.Chained, "renderers": o.Renderers} {
		if n < 0 || n > slots {
			return o, fmt.Errorf("-%s: from 0 to %d", name, slots)
		}
	}
	for name, n := range map[string]int{"frontiers": o.Frontiers, "fetchers": o.Fetchers, "parsers": o.Parsers, "writers": o.Writers} {
		if n < 1 || n > slots {
			return o, fmt.Errorf("-%s: from 1 to %d", name, slots)
		}
	}
	return o, nil
}

func run(ctx context.Context, args []string) (err error) {
	o, err := parseOptions(args)
	if err != nil {
		return err
	}
	dir, err := proc.WorkFolder("soak", o.Dir)
	if err != nil {
		return err
	}
	journal, err := os.Create(filepath.Join(dir, "journal.log"))
	if err != nil {
		return fmt.Errorf("make journal: %w", err)
	}
	defer func() { _ = journal.Close() }()
	t := contract.NewTally(journal)
	r, err := newTestbed(o, dir, t)
	if err != nil {
		return err
	}
	kinds, err := faultsLike(r, o.Only)
	if err == nil && o.Renderers > 0 {
		err = r.tryBrowser(ctx)
	}
	if err == nil {
		fmt.Printf("seed %d, logs and states in %s\n", o.Seed, dir)
		err = build(ctx, o, r)
	}
	if err != nil {
		r.teardown(false)
		return errors.Join(err, os.RemoveAll(dir))
	}
	began := time.Now()
	err = soak(ctx, o, r, kinds, t)
	bad := o.Keep || t.Violated() > 0 || err != nil && ctx.Err() == nil
	r.teardown(bad)
	t.Report(os.Stdout, time.Since(began), r.uncovered())
	if bad {
		fmt.Println("kept:", dir)
	} else if rm := os.RemoveAll(dir); rm != nil {
		return fmt.Errorf("remove work folder: %w", rm)
	}
	if n := t.Violated(); n > 0 {
		return fmt.Errorf("%d violations; the same faults again: -seed %d", n, o.Seed)
	}
	return err
}

// build makes the commands under test, in the folder where the rig looks for them.
func build(ctx context.Context, o options, r *testbed) error {
	flags := []string{"-trimpath"} // as make build does, whose cache is used then
	if o.Clocks {
		list, err := overlay(ctx, r.dir)
		if err != nil {
			return err
		}
		flags = append(flags, "-overlay", list)
	}
	_, err := proc.BuildWith(ctx, r.dir, flags, append(slices.Clone(r.roles), commandSeine)...)
	return err
}

// Command frontier measures the frontier stage alone, at scale: it injects the
// links of simulated pages through JetStream into one frontier process, prints
// how fast they are taken and what they cost as their number grows, and then
// lets every URL come out, answered by simulated fetchers, and checks that each
// came exactly once.
//
// The machine runs three processes of it: this one, a nats-server and the
// frontier, both built from this tree.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

type options struct {
	urls, hosts  int
	links        int
	uniform      bool
	partitions   int
	every        int
	drain        bool
	dir          string
	keep         bool
	snapshots    time.Duration
	cpuProfile   string
	heapProfile  string
	profileAt    int
	maxRSS       int
	minRate      float64
	fetchBacklog int
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "frontier bench:", err)
		os.Exit(1)
	}
}

func parse(args []string) (o options, err error) {
	f := flag.NewFlagSet("frontier", flag.ContinueOnError)
	f.IntVar(&o.urls, "urls", 10_000_000, "distinct URLs; as many repeats come with them")
	f.IntVar(&o.hosts, "hosts", 100_000, "hosts that they are spread over")
	f.IntVar(&o.links, "links", 50, "links of a page, half of them to URLs known before")
	f.BoolVar(&o.uniform, "uniform", false, "every link leads to any host; else four in five stay on their page's")
	f.IntVar(&o.partitions, "partitions", 16, "partitions")
	f.IntVar(&o.every, "every", 1_000_000, "distinct URLs between two lines of the table")
	f.BoolVar(&o.drain, "drain", true, "then let every URL come out")
	f.StringVar(&o.dir, "dir", "", "where to keep the state; a new temporary directory if empty")
	f.BoolVar(&o.keep, "keep", false, "leave the directory")
	f.DurationVar(&o.snapshots, "snapshots", 0, "--snapshot-every of the frontier")
	f.StringVar(&o.cpuProfile, "cpuprofile", "", "take a CPU profile of the frontier, of 20 s")
	f.StringVar(&o.heapProfile, "heapprofile", "", "take a heap profile of the frontier after the last URL")
	f.IntVar(&o.profileAt, "profile-at", 1_000_000, "after so many distinct URLs")
	f.IntVar(&o.maxRSS, "max-rss", 0, "fail if the frontier needs more MB; 0 is no limit")
	f.Float64Var(&o.minRate, "min-rate", 0, "fail if the last step takes fewer candidates a second; 0 is no limit")
	f.IntVar(&o.fetchBacklog, "fetch-messages", 8192, "--fetch-messages of the frontier")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if o.urls < 1 || o.hosts < 1 || o.links < 2 || o.every < 1 {
		return o, errors.New("-urls, -hosts and -every must be at least 1, -links at least 2")
	}
	return o, nil
}

func run(ctx context.Context, args []string) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	if o.dir == "" {
		if o.dir, err = os.MkdirTemp("", "seine-frontier-"); err != nil {
			return fmt.Errorf("make directory: %w", err)
		}
		if !o.keep {
			defer os.RemoveAll(o.dir)
		}
	}
	m, err := start(ctx, o)
	if err != nil {
		return err
	}
	defer m.stop()
	if err := m.inject(ctx); err != nil {
		return err
	}
	if o.drain {
		return m.drain(ctx)
	}
	return nil
}

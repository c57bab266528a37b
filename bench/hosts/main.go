//go:build linux

// Command hosts runs Seine on several machines, each of which is a network namespace of this one: a cluster of three NATS servers,
// two frontiers, four fetchers, two parsers, two writers into an S3 server, and a web to crawl. It breaks the network and the
// machines in mid-crawl, and checks what docs/contract.md promises; or it measures what it costs that they are several.
//
//	make hosts                                 # breaks everything once; five to ten minutes
//	make hosts SEED=7 ARGS="-rounds 3"         # the same faults in the same order, three times all kinds
//	make hosts ARGS="-measure"                 # throughput beside that of one host
//	cd bench && go run ./hosts -help
//
// It needs Linux, root and /dev/net/tun. Everything runs in namespaces of processes, mounts and networks that go with it,
// however it ends; nothing in them has a way to any other network. A folder that a killed run has left is removed by the next.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"seine/bench/netns"
)

// options are the command line.
type options struct {
	Seed         uint64
	Rounds       int
	Only         string
	Hosts, Pages int
	Delay        time.Duration
	Measure      bool
	Timeout      time.Duration
	Dir          string
	Keep         bool
}

func main() {
	if err := netns.Enter(); err != nil {
		fmt.Fprintln(os.Stderr, "hosts:", err)
		os.Exit(1)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	run := outside
	if work := os.Getenv(workVariable); work != "" {
		run = func(ctx context.Context, o options) error { return inside(ctx, o, work) }
	}
	o, err := parseOptions(os.Args[1:])
	if err == nil {
		err = run(ctx, o)
	}
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
	case errors.Is(err, errTold):
		os.Exit(1)
	case ctx.Err() != nil:
		fmt.Fprintln(os.Stderr, "hosts: interrupted")
		os.Exit(4)
	default:
		fmt.Fprintln(os.Stderr, "hosts:", err)
		os.Exit(1)
	}
}

func parseOptions(args []string) (o options, err error) {
	f := flag.NewFlagSet("hosts", flag.ContinueOnError)
	f.Uint64Var(&o.Seed, "seed", 0, "of the webs and faults; 0 is a random one, which is printed")
	f.IntVar(&o.Rounds, "rounds", 0, "how `often` each kind of fault comes, or each setup is measured; 1, and 3 with -measure, if not given")
	f.StringVar(&o.Only, "only", "", "only faults whose kind begins so, such as cut or \"lose machine\"")
	f.IntVar(&o.Hosts, "hosts", 0, "`number` of sites of each web; 24, and 64 with -measure, if not given")
	f.IntVar(&o.Pages, "pages", 0, "`number` of pages of each site; 80, and 50 with -measure, if not given")
	f.DurationVar(&o.Delay, "delay", 400*time.Millisecond, "least time between a response and the next request to its site; none with -measure")
	f.BoolVar(&o.Measure, "measure", false, "break nothing: measure the throughput of one host and of several, in turn")
	f.DurationVar(&o.Timeout, "timeout", 30*time.Minute, "most time for everything")
	f.StringVar(&o.Dir, "dir", os.TempDir(), "where to make the work `folder`")
	f.BoolVar(&o.Keep, "keep", false, "keep the work folder even if nothing was wrong")
	if err := f.Parse(args); err != nil {
		return o, fmt.Errorf("read flags: %w", err)
	}
	for _, d := range []struct {
		v              *int
		fault, measure int
	}{{&o.Rounds, 1, 3}, {&o.Hosts, 24, 64}, {&o.Pages, 80, 50}} {
		if *d.v == 0 && o.Measure {
			*d.v = d.measure
		} else if *d.v == 0 {
			*d.v = d.fault
		}
	}
	switch {
	case f.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q", f.Arg(0))
	case o.Rounds < 1 || o.Hosts < 1 || o.Hosts > 500 || o.Pages < 2 || o.Pages > 10_000:
		return o, errors.New("-rounds: from 1; -hosts: from 1 to 500; -pages: from 2 to 10000")
	case o.Delay < 10*time.Millisecond:
		return o, errors.New("-delay: at least 10ms")
	}
	if o.Seed == 0 {
		o.Seed = rand.Uint64N(1_000_000) + 1 //nolint:gosec // to be typed again
	}
	_, err = kindsLike(o.Only)
	return o, err
}

// arguments are those of a process that does the same.
func (o options) arguments() []string {
	return strings.Fields(fmt.Sprintf("-seed=%d -rounds=%d -hosts=%d -pages=%d -delay=%s -measure=%t -timeout=%s",
		o.Seed, o.Rounds, o.Hosts, o.Pages, o.Delay, o.Measure, o.Timeout))
}

// Command serve measures what `seine serve` costs a crawl beside it, and how fast it answers then: a `seine crawl` of the
// test web at full speed, and a server that looks into it, each a process of its own. It prints how many pages came a
// second without requests and with them, how long answers took, and the memory of the server while streams of events
// are open.
//
//	cd bench && go run ./serve                           # 200 requests/s for a minute, 50 streams for ten minutes
//	cd bench && go run ./serve -seconds 20s -rounds 3 -stream-time 1m
//	cd bench && go run ./serve -get /stats -get /crawls -stream-time 0
//	cd bench && go run ./serve -open -rounds 5 -seconds 20s  # what one page costs that is left open, and fifty:
//	                                                     # by CPU time, which says more than pages a second on a shared machine
//
// Pages are requests, as the web counts them. The web and the sender of requests are this process, which shares the cores.
// The time of an answer is from when the request was due, so that a server that stands still is not asked less.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"time"

	"seine/bench/fleet"
	"seine/bench/proc"
	"seine/internal/base/sleep"
)

// options are the command line.
type options struct {
	Bin        string
	Gets       []string
	Rate       int
	Window     time.Duration
	Rounds     int
	Warmup     time.Duration
	Streams    int
	StreamTime time.Duration
	Hosts      int
	Pages      int // per host
	Open       bool
	Keep       bool
}

func main() { proc.Main("serve", run) }

func parseOptions(args []string) (o options, err error) {
	f := flag.NewFlagSet("serve", flag.ContinueOnError)
	f.StringVar(&o.Bin, "bin", "", "`folder` with the commands and nats-server, built before; else they are built")
	f.Func("get", "ask for this `path` below /api/v1; more than once for several in turn; else for what pages and programs ask for most", func(path string) error {
		o.Gets = append(o.Gets, path)
		return nil
	})
	f.IntVar(&o.Rate, "rate", 200, "`number` of requests a second; the server refuses more than 500 of one caller")
	f.DurationVar(&o.Window, "seconds", time.Minute, "`time` with requests, and the same time without them")
	f.IntVar(&o.Rounds, "rounds", 1, "`number` of such pairs, in turn")
	f.DurationVar(&o.Warmup, "warmup", 15*time.Second, "`time` of crawling before that")
	f.IntVar(&o.Streams, "streams", 50, "`number` of streams of events")
	f.DurationVar(&o.StreamTime, "stream-time", 10*time.Minute, "`time` for which they are open; 0 for none")
	f.IntVar(&o.Hosts, "hosts", 200, "`number` of hosts")
	f.IntVar(&o.Pages, "pages", 20_000, "`number` of pages of each host: enough that the crawl does not end before")
	f.BoolVar(&o.Open, "open", false, "measure pages that are left open in browsers instead: one, and as many as -streams")
	f.BoolVar(&o.Keep, "keep", false, "keep the work folder with the logs, and say where")
	if err := f.Parse(args); err != nil {
		return o, fmt.Errorf("read flags: %w", err)
	}
	switch {
	case f.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q", f.Arg(0))
	case o.Rate < 1 || o.Rounds < 1 || o.Streams < 1 || o.Hosts < 1 || o.Pages < 1:
		return o, errors.New("-rate, -rounds, -streams, -hosts, -pages: from 1")
	case o.Window < time.Second || o.Warmup < time.Second:
		return o, errors.New("-seconds, -warmup: at least 1s")
	}
	return o, nil
}

func run(ctx context.Context, args []string) error {
	o, err := parseOptions(args)
	if err != nil {
		return err
	}
	http.DefaultTransport.(*http.Transport).MaxIdleConnsPerHost = 256 // those that are under way at once are kept
	return proc.InWorkFolder(ctx, "serve", "", o.Keep, func(ctx context.Context, work string, fail context.CancelCauseFunc) error {
		bin, err := proc.Commands(ctx, work, o.Bin, fleet.Commands()...)
		if err != nil {
			return err
		}
		r, err := o.start(ctx, bin, work, fail)
		if err != nil {
			return err
		}
		defer r.close()
		return o.measure(ctx, r)
	})
}

// measure does the rounds, and then opens the streams.
func (o *options) measure(ctx context.Context, r *rig) error {
	if err := sleep.For(ctx, o.Warmup); err != nil {
		return err
	}
	if o.Open {
		return o.openPages(ctx, r)
	}
	sent := newAnswers()
	for range o.Rounds {
		alone, err := r.pagesWhile(func() error { return sleep.For(ctx, o.Window) })
		if err != nil {
			return err
		}
		beside, err := r.pagesWhile(func() error { return sent.ask(ctx, r.requests(o.Gets), o.Rate, o.Window) })
		if err != nil {
			return err
		}
		fmt.Printf("%.0f pages/s without requests, %.0f with %d requests/s: %.2f\n", alone, beside, o.Rate, beside/alone)
	}
	sent.report(os.Stdout)
	if o.StreamTime == 0 {
		return nil
	}
	return o.stream(ctx, r)
}

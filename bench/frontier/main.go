// Command frontier measures the frontier stage alone, at scale. It injects the links of simulated pages through
// JetStream into one frontier, prints how fast they are taken and what they cost as their number grows, then lets every
// URL come out, answered by simulated fetchers and parsers, and checks that each came exactly once.
//
//	cd bench && go run ./frontier                                     # 10 million URLs over 100,000 hosts
//	cd bench && go run ./frontier -urls 200000                        # a quick look
//	cd bench && go run ./frontier -urls 5000000 -hosts 1 -phase open -max-rss 500
//	cd bench && go run ./frontier -max-rss 500 -min-rate 40000 -min-share 0.5
//	cd bench && go run ./frontier -phase ended -crawls 10000          # what crawls that have ended cost
//	cd bench && go run ./frontier -phase lists                        # how long seine serve takes for lists of so much
//
// Three processes share the machine: this one, a nats-server and the frontier, both built from this tree. So its own
// CPU time is printed as well. Candidates count when the frontier has applied them, not when they were published.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"

	"seine/bench/proc"
	"seine/pkg/messages"
)

// What links lead to.
const (
	mixSite    = "site"    // mostly the host of their page, as on the web
	mixUniform = "uniform" // any host: the worst case
)

// What is run.
const (
	phaseInject = "inject"
	phaseAll    = "all"
	phaseOpen   = "open"
	phaseEnded  = "ended"
	phaseLists  = "lists"
)

// options are the command line.
type options struct {
	URLs, Hosts, Links, Partitions int
	Crawls, Dead                   int
	Mix, Phase                     string
	Report                         float64 // millions
	Dir                            string
	Keep                           bool
	KeepLinks                      bool
	Ahead, FetchMessages           int
	FrontierArgs                   string

	CPUProfile, HeapProfile string
	ProfileAt               float64 // millions

	MaxRSS            float64 // MB
	MinRate, MinShare float64
}

func main() { proc.Main("frontier", run) }

func parseOptions(args []string) (o options, err error) {
	f := flag.NewFlagSet("frontier", flag.ContinueOnError)
	f.IntVar(&o.URLs, "urls", 10_000_000, "`number` of distinct URLs; as many repeats come with them")
	f.IntVar(&o.Hosts, "hosts", 100_000, "`number` of hosts that they are spread over")
	f.IntVar(&o.Links, "links", 50, "`number` of links of a page, half of them to URLs injected before")
	f.StringVar(&o.Mix, "mix", mixSite, "where links lead: site (four in five to the host of their page) or uniform (any host)")
	f.IntVar(&o.Partitions, "partitions", messages.DefaultPartitions, "`number` of partitions")
	f.StringVar(&o.Phase, "phase", phaseAll, "inject, or all: then let every URL come out; open: as all, but the URLs are out of scope until seeds open their hosts; ended: crawls that have ended instead; lists: inject, then ask seine serve for lists")
	f.IntVar(&o.Crawls, "crawls", 10_000, "`number` of crawls that have ended, with a URL in each partition")
	f.IntVar(&o.Dead, "dead", 1_000_000, "`number` of dead letters to list")
	f.Float64Var(&o.Report, "report", 1, "`millions` of distinct URLs between two lines of the table")
	f.StringVar(&o.Dir, "dir", "", "`folder` to make the work folder in; the system's for temporary files if empty")
	f.BoolVar(&o.Keep, "keep", false, "keep the work folder, and say where")
	f.BoolVar(&o.KeepLinks, "keep-links", false, "let the frontier keep what links a page has, as in a crawl with a schedule whose pages have validators")
	f.IntVar(&o.Ahead, "ahead", 100_000, "how many `candidates` publishing may be ahead of the frontier; 0 is as many as the stream holds")
	f.IntVar(&o.FetchMessages, "fetch-messages", 8192, "--fetch-messages of the frontier: requests under way at a time")
	f.StringVar(&o.FrontierArgs, "frontier-args", "", "more `arguments` for the frontier, such as \"--snapshot-every 0s\"")
	f.StringVar(&o.CPUProfile, "cpuprofile", "", "write 30 s of the frontier's CPU profile to this `file`")
	f.StringVar(&o.HeapProfile, "heapprofile", "", "write the frontier's heap profile to this `file`")
	f.Float64Var(&o.ProfileAt, "profile-at", 1, "`millions` of distinct URLs after which profiles are taken")
	f.Float64Var(&o.MaxRSS, "max-rss", 0, "fail if the frontier's RSS is more `MB` at the end of a phase; 0 is off")
	f.Float64Var(&o.MinRate, "min-rate", 0, "fail if the last step takes fewer `candidates` a second; 0 is off")
	f.Float64Var(&o.MinShare, "min-share", 0, "fail if the last step has less than this `part` of the first one's rate; 0 is off")
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
	case o.URLs < 1 || o.URLs > 1_000_000_000:
		return errors.New("-urls: from 1 to 1000000000")
	case o.Hosts < 1 || o.Hosts > 10_000_000:
		return errors.New("-hosts: from 1 to 10000000")
	case o.Links < 2 || o.Links > messages.MaxBatchURLs:
		return fmt.Errorf("-links: from 2 to %d", messages.MaxBatchURLs)
	case o.Partitions < 1 || o.Partitions > messages.MaxPartitions:
		return fmt.Errorf("-partitions: from 1 to %d", messages.MaxPartitions)
	case o.Ahead < 0 || o.FetchMessages < 1:
		return errors.New("-ahead: from 0; -fetch-messages: from 1")
	case o.Mix != mixSite && o.Mix != mixUniform:
		return errors.New("-mix: site or uniform")
	case !slices.Contains([]string{phaseInject, phaseAll, phaseOpen, phaseEnded, phaseLists}, o.Phase):
		return errors.New("-phase: inject, all, open, ended or lists")
	case o.Crawls < 1 || o.Crawls > 1_000_000:
		return errors.New("-crawls: from 1 to 1000000")
	case o.Dead < 1 || o.Dead > 100_000_000:
		return errors.New("-dead: from 1 to 100000000")
	case o.Report <= 0:
		return errors.New("-report: more than 0")
	case (o.CPUProfile != "" || o.HeapProfile != "") && int(o.ProfileAt*1e6) > o.URLs:
		return errors.New("-profile-at: no more than -urls")
	}
	return nil
}

func run(ctx context.Context, args []string) error {
	o, err := parseOptions(args)
	if err != nil {
		return err
	}
	return proc.InWorkFolder(ctx, "frontier", o.Dir, o.Keep, func(ctx context.Context, work string, fail context.CancelCauseFunc) error {
		m := &testbed{options: o, work: work, fail: fail}
		defer m.stop()
		return m.measureAll(ctx)
	})
}

// measureAll runs the phases.
func (m *testbed) measureAll(ctx context.Context) error {
	if err := m.start(ctx); err != nil {
		return err
	}
	if m.Phase == phaseEnded {
		return m.endedCrawls(ctx)
	}
	w := newWeb(&m.options)
	fmt.Printf("%d URLs over %d hosts, as many repeats, %d links a page, mix %s, %d partitions%s\n\n",
		m.URLs, m.Hosts, m.Links, m.Mix, m.Partitions, strings.TrimRight("; "+m.FrontierArgs, "; "))
	if err := m.inject(ctx, w); err != nil {
		return err
	}
	if m.Phase == phaseOpen {
		m.broken = errors.Join(m.broken, m.open(ctx, w))
	}
	switch m.Phase {
	case phaseInject:
		return m.broken
	case phaseLists:
		return errors.Join(m.broken, m.lists(ctx, w))
	}
	return errors.Join(m.broken, m.drain(ctx, w))
}

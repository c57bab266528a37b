// Package crawl runs a whole crawl in one process: a NATS server, unless there
// is one elsewhere, and the four stages over it. It adds nothing to them but
// the order in which they start and stop.
package crawl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/sync/errgroup"

	"seine/internal/embedded"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/fetcher"
	"seine/pkg/stages/frontier"
	"seine/pkg/stages/parser"
	"seine/pkg/stages/writer"
)

// Options say what to crawl, and where things go.
type Options struct {
	Crawl string   // name of the crawl
	Seeds []string // may be empty when the crawl is in Data already
	// Spec makes the spec from the one that the crawl has, which is the default
	// for a new crawl.
	Spec func(have messages.Spec) (*messages.Spec, error)
	Data string // state: streams, frontier, writer
	NATS string // URL of a server elsewhere; "" embeds one in Data
	// Listen is where the embedded server can be reached, with port 0 for any.
	Listen   string
	Sync     frontier.Sync
	Fetcher  fetcher.Config
	Parser   parser.Config
	Writer   writer.Config
	Frontier frontier.Config
	// Progress, if set, is told how the crawl stands, a few times a second.
	Progress func(Progress)
	Log      *slog.Logger
}

// Progress is how a crawl stands.
type Progress struct {
	frontier.Standing
	Elapsed  time.Duration
	MaxPages int64
	NATS     string // where the streams can be looked at
}

// ErrNothingToDo is returned when there are no seeds, and nothing in Data to
// go on with.
var ErrNothingToDo = errors.New("no URL to start from, and no crawl to resume")

// pollEvery is how often the frontier is asked how the crawl stands: once in
// so long for each partition, which is a question of its own.
const pollEvery = 20 * time.Millisecond

// Run crawls until nothing is left to do, a limit is reached, or ctx is done.
// The summary tells which; it is returned with an error too, if there is one.
func Run(ctx context.Context, o Options) (*Summary, error) {
	began := time.Now()
	_, err := os.Stat(o.Frontier.State)
	resumed := err == nil
	if !resumed && len(o.Seeds) == 0 {
		return nil, ErrNothingToDo
	}
	if o.NATS == "" {
		if err := checkWritable("--data", o.Data); err != nil {
			return nil, err
		}
	}
	dial, server, err := connect(&o)
	if err != nil {
		return nil, err
	}
	if server != nil {
		defer server.Stop()
	}
	c := &crawl{
		Options: o, dial: dial, began: began,
		server: server, resumed: resumed,
	}
	if err := c.open(ctx); err != nil {
		return nil, err
	}
	defer c.close()
	if err := c.feed(ctx); err != nil {
		return nil, err
	}
	return c.run(ctx)
}

// connect starts the embedded server, or returns none and uses the one
// elsewhere. The function dial makes a connection to it.
func connect(o *Options) (dial func() (*stages.Bus, error), s *embedded.Server, err error) {
	if o.NATS != "" {
		url := o.NATS
		return func() (*stages.Bus, error) { return stages.Dial(url, "seine-crawl", o.Log) }, nil, nil
	}
	host, port, err := splitListen(o.Listen)
	if err != nil {
		return nil, nil, err
	}
	s, err = embedded.Start(embedded.Options{
		Dir: filepath.Join(o.Data, "nats"), Host: host, Port: port, SyncAlways: o.Sync == frontier.SyncAlways,
	})
	if err != nil {
		return nil, nil, err
	}
	o.NATS = s.URL()
	dial = func() (*stages.Bus, error) {
		return stages.Dial("", "seine-crawl", o.Log, nats.InProcessServer(s.Server()))
	}
	return dial, s, nil
}

// CheckListen reports what is wrong with an address for Options.Listen.
func CheckListen(listen string) error {
	_, _, err := splitListen(listen)
	return err
}

func splitListen(listen string) (string, int, error) {
	host, text, err := net.SplitHostPort(listen)
	if err != nil {
		return "", 0, fmt.Errorf("--listen %q: %w", listen, err)
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return "", 0, fmt.Errorf("--listen %q: the port must be a number", listen)
	}
	if port == 0 {
		return host, -1, nil // any, in the server's terms
	}
	return host, int(port), nil
}

// crawl is a run of the four stages.
type crawl struct {
	Options
	dial     func() (*stages.Bus, error)
	buses    []*stages.Bus
	bus      *stages.Bus      // of the crawl itself, and of the frontier
	server   *embedded.Server // nil if it is elsewhere
	client   frontier.Client
	began    time.Time
	store    *frontier.Store
	specs    *stages.Specs
	unfollow func()
	spec     *messages.Spec
	frontier *frontier.Frontier
	fetcher  *fetcher.Fetcher
	parser   *parser.Parser
	writer   *writer.Writer
	last     frontier.Counters
	resumed  bool   // there was state before this run
	before   int64  // pages fetched by earlier runs
	asked    bool   // last has been set
	nothing  string // why the first seed gave no page, if none did

	abandoned bool // stages still run: what they use must stay as it is
}

// Partitions is how many partitions an embedded server has. One carries more
// than one machine can crawl, makes one file of output at a time, and spares a
// small crawl most of the start and the stop of sixteen times four consumers.
const Partitions = 1

// open makes the stages, and starts none.
func (c *crawl) open(ctx context.Context) (err error) {
	defer func() {
		if err != nil {
			c.close()
		}
	}()
	if c.bus, err = c.connection(); err != nil {
		return err
	}
	c.client.Bus = c.bus
	if err := errors.Join(checkWritable("--data", c.Data), checkWritable("--out", c.Writer.Out)); err != nil {
		return err
	}
	c.Frontier.Partitions = Partitions
	if c.server != nil { // its state is beside the streams, and nobody else's
		c.Frontier.Take, c.Frontier.SnapshotEvery = frontier.TakeAll, 0
	}
	if layout, err := c.bus.Existing(ctx); err == nil {
		c.Frontier.Partitions = layout.Partitions
	} else if c.server == nil {
		c.Frontier.Partitions = messages.DefaultPartitions
	}
	if err = frontier.Provision(ctx, c.Frontier, c.bus); err != nil {
		return err
	}
	if c.store, err = frontier.OpenStore(c.Frontier.State, int64(c.Frontier.Cache), c.Frontier.Sync, c.Log); err != nil {
		return err
	}
	if c.specs, c.unfollow, err = stages.FollowSpecs(ctx, c.bus); err != nil {
		return err
	}
	if c.frontier, err = frontier.New(c.Frontier, c.bus, c.specs, c.store); err != nil {
		return err
	}
	return c.openWorkers(ctx)
}

// openWorkers gives each of the other stages a connection of its own, as in
// separate processes: a page on its way would hold up every small message
// behind it.
func (c *crawl) openWorkers(ctx context.Context) error {
	var own [3]*stages.Bus
	for i := range own {
		bus, err := c.connection()
		if err != nil {
			return err
		}
		bus.Layout, own[i] = c.bus.Layout, bus
	}
	if c.server != nil && c.resumed { // whoever held messages is gone
		if err := own[0].Release(ctx); err != nil {
			return err
		}
	}
	var err error
	if c.fetcher, err = fetcher.New(c.Fetcher, own[0], c.specs); err != nil {
		return err
	}
	if c.parser, err = parser.New(c.Parser, own[1], c.specs); err != nil {
		return err
	}
	c.writer, err = writer.New(c.Writer, own[2])
	return err
}

func (c *crawl) connection() (*stages.Bus, error) {
	bus, err := c.dial()
	if err == nil {
		c.buses = append(c.buses, bus)
	}
	return bus, err
}

func (c *crawl) close() {
	if c.abandoned {
		return // the end of the process closes it all, as kill -9 would
	}
	if c.unfollow != nil {
		c.unfollow()
	}
	if c.store != nil {
		if err := c.store.Close(); err != nil {
			c.Log.Error("close frontier store", "error", err)
		}
	}
	for _, bus := range c.buses {
		bus.Close()
	}
}

// seedsPerMessage keeps a message of SEEDS well under its size limit.
const seedsPerMessage = 400

// feed stores the spec and publishes the seeds. Seeds that the frontier knows
// are no news to it, so a crawl is resumed by the same command.
func (c *crawl) feed(ctx context.Context) error {
	have, err := c.specs.Get(ctx, c.Crawl, 0)
	if err != nil {
		return err
	}
	if c.spec, err = c.Spec(*have.Spec); err != nil {
		return err
	}
	if _, err := c.specs.Put(ctx, c.Crawl, c.spec); err != nil {
		return err
	}
	pub := stages.NewPublisher(c.bus, "crawl")
	for seeds := c.Seeds; len(seeds) > 0; {
		n := min(len(seeds), seedsPerMessage)
		m := &nats.Msg{Subject: messages.SubjectSeeds(c.Crawl), Data: []byte(strings.Join(seeds[:n], "\n"))}
		if err := pub.Publish(ctx, m); err != nil {
			return fmt.Errorf("publish seeds: %w", err)
		}
		seeds = seeds[n:]
	}
	return nil
}

// run starts the stages, watches the crawl, and stops the stages in the order
// of the pipeline, so that each hands on what it has.
func (c *crawl) run(ctx context.Context) (*Summary, error) {
	g, gctx := errgroup.WithContext(context.WithoutCancel(ctx))
	stopStages := c.start(g, gctx)
	end, err := c.watch(ctx, gctx)
	var slowest []frontier.HostStatus
	if err == nil {
		slowest, _ = c.client.Slowest(gctx, 5)
		c.explainNothing(gctx)
	}
	if end != frontier.NotEnded && err == nil {
		err = c.settle(ctx, gctx)
	}
	ended := make(chan error, 1)
	go func() {
		stopStages()
		ended <- g.Wait()
	}()
	werr, stopped := awaitEnd(ended, err != nil)
	c.abandoned = !stopped
	if werr != nil && !errors.Is(werr, context.Canceled) {
		err = werr
	}
	return c.summarise(end, ctx.Err() != nil, slowest, err)
}

// explainNothing finds out, for a crawl that ended without a page, what became
// of its first seed.
func (c *crawl) explainNothing(ctx context.Context) {
	if c.last.Pages > 0 || len(c.Seeds) == 0 {
		return
	}
	if e, err := c.client.Explain(ctx, c.Crawl, c.Seeds[0]); err == nil && e.Known {
		reason := cmp.Or(e.Reason, string(e.Class))
		c.nothing = fmt.Sprintf("%s: %s: %s", e.URL, e.State, cmp.Or(hints[reason], reason))
	}
}

// hints say for reasons of exclusion what can be done about them.
var hints = map[string]string{
	frontier.ReasonAddress: "its address is a private one (--allow-private lets the crawl go there)",
	frontier.ReasonRobots:  "its robots.txt does not allow it (--robots ignore, if the site is yours)",
	frontier.ReasonExclude: "an --exclude pattern matches it",
}

// failedGrace is how long stages may take to stop when the crawl has failed:
// what keeps it from going on may keep them from draining as well.
const failedGrace = time.Second

// awaitEnd waits for the stages to stop, not for long if the crawl has failed:
// the process is about to end, and nothing acknowledged depends on how. It
// reports whether they stopped.
func awaitEnd(ended <-chan error, failed bool) (err error, stopped bool) {
	if !failed {
		return <-ended, true
	}
	select {
	case err := <-ended:
		return err, true
	case <-time.After(failedGrace):
		return nil, false
	}
}

// start starts the stages. The function it returns stops them: first those that
// hand on what they hold, then those that they hand it to, or ask.
func (c *crawl) start(g *errgroup.Group, ctx context.Context) (stop func()) {
	early, stopEarly := context.WithCancel(ctx)
	late, stopLate := context.WithCancel(ctx)
	var stopped sync.WaitGroup
	for _, run := range []func(context.Context) error{c.fetcher.Run, c.parser.Run} {
		stopped.Add(1)
		g.Go(func() error { defer stopped.Done(); return run(early) })
	}
	g.Go(func() error { return c.frontier.Run(late) })
	g.Go(func() error { return c.writer.Run(late) })
	return func() {
		stopEarly()
		stopped.Wait()
		stopLate()
	}
}

// watch follows the crawl until it has ended, ctx is done, or a stage has
// failed, which ends the stages' context.
func (c *crawl) watch(ctx, stages context.Context) (frontier.End, error) {
	tick := time.NewTicker(pollEvery * time.Duration(c.bus.Layout.Partitions))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return frontier.NotEnded, nil
		case <-stages.Done():
			return frontier.NotEnded, nil // Wait will say why
		case <-tick.C:
		}
		if err := c.trouble(); err != nil {
			return frontier.NotEnded, err
		}
		end, counters, err := c.client.Ended(stages, c.Crawl, c.spec)
		if errors.Is(err, frontier.ErrUnanswered) || stages.Err() != nil {
			continue // not all partitions are open yet
		}
		if err != nil {
			c.Log.Debug("cannot ask the frontier", "error", err)
			continue
		}
		if c.resumed && !c.asked {
			c.before = counters.Pages
		}
		c.asked = true
		c.last = counters.Counters
		if c.Progress != nil {
			c.Progress(Progress{Standing: counters, Elapsed: time.Since(c.began), MaxPages: c.spec.MaxPages, NATS: c.NATS})
		}
		switch {
		case end == frontier.Empty && len(c.Seeds) > 0: // they are on their way
		case end == frontier.Empty:
			return frontier.NotEnded, fmt.Errorf("%w: crawl %s", ErrNothingToDo, c.Crawl)
		case end != frontier.NotEnded:
			return end, nil
		}
	}
}

// trouble returns what keeps the crawl from going on, for a person to mend. In
// separate processes a stage waits until it has been mended; here the person is
// waiting too.
func (c *crawl) trouble() error {
	if err := c.writer.Err(); err != nil {
		return fmt.Errorf("%w (the same command goes on when that is mended)", err)
	}
	if c.server != nil {
		return errors.Join(checkDisk(c.Data), c.server.Err())
	}
	return nil
}

// settle waits until the writer has every record, or ctx is done.
func (c *crawl) settle(ctx, stages context.Context) error {
	for {
		done, err := c.writer.CaughtUp(stages)
		if err != nil && stages.Err() == nil {
			c.Log.Debug("cannot ask the writer", "error", err)
		}
		if done || ctx.Err() != nil || stages.Err() != nil {
			return nil
		}
		if err := c.trouble(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
		case <-stages.Done():
		case <-time.After(pollEvery):
		}
	}
}

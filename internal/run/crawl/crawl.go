// Package crawl runs a whole crawl in one process: a NATS server, unless there
// is one elsewhere, and the four stages over it. It adds nothing to them but
// the order in which they start and stop.
package crawl

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"seine/internal/base/sleep"
	"seine/internal/base/stateencryption"
	"seine/internal/frontier/state"
	"seine/internal/render"
	"seine/internal/run/connect"
	"seine/internal/run/embedded"
	"seine/internal/run/stagegroup"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/fetcher"
	"seine/pkg/stages/frontier"
	"seine/pkg/stages/frontier/frontierapi"
	"seine/pkg/stages/parser"
	"seine/pkg/stages/writer"
)

// ErrNothingToDo is returned when there are no seeds, and nothing in Data to
// continue with.
var ErrNothingToDo = errors.New("no URL to start from, and no crawl to resume")

// othersPoll is the wait between questions which other crawls have work.
const othersPoll = time.Second

// Run crawls until nothing is left to do, a limit is reached, or ctx is done.
// The summary tells which; it is returned with an error too, if there is one.
func Run(ctx context.Context, o Options) (*Summary, error) {
	began := time.Now()
	_, err := os.Stat(o.Frontier.State)
	resumed := err == nil
	if !resumed && len(o.Seeds) == 0 {
		spec, err := o.Spec(crawlspec.Default())
		if err != nil {
			return nil, err
		}
		if len(spec.Seeds) == 0 {
			return nil, ErrNothingToDo
		}
	}
	if err := o.checkFolders(); err != nil {
		return nil, err
	}
	key, err := stateencryption.Open(o.Data, o.EncryptState)
	if err != nil {
		return nil, err
	}
	if key != nil && o.NATS.Given() {
		return nil, fmt.Errorf("%w: the state in %s is encrypted, which needs the embedded NATS server: omit --nats, or use another --data", stateencryption.ErrKey, o.Data)
	}
	dial, server, err := connectOrEmbed(ctx, &o, key)
	if err != nil {
		return nil, err
	}
	c := &crawl{
		Options: o, dial: dial, began: began,
		server: server, resumed: resumed, begun: make(chan struct{}), key: key,
	}
	if resumed {
		c.before.Store(notCounted)
	}
	if server != nil {
		defer c.stopServer()
		defer connect.RemoveLocal(o.Data)
	}
	if err := c.open(ctx); err != nil {
		return nil, c.explain(err)
	}
	defer c.close()
	if err := c.beginIfKnown(ctx); err != nil {
		return nil, c.explain(err)
	}
	return c.run(ctx)
}

// crawl is a run of the four stages.
type crawl struct {
	Options
	dial        dialer
	buses       []*stages.Bus
	bus         *stages.Bus          // of the crawl itself, and of the frontier
	server      *embedded.Server     // nil if it is elsewhere
	key         *stateencryption.Key // of Data; nil if it is in the clear
	client      frontierapi.Client
	began       time.Time
	store       *state.Store
	specs       *stages.Specs
	unfollow    func()
	specRev     uint64 // of the spec that this run began with
	frontier    *frontier.Frontier
	fetcher     *fetcher.Fetcher
	renderer    *render.Renderer
	parser      *parser.Parser
	writers     []*writer.Writer // that of the records first
	last        frontierapi.Counters
	resumed     bool // there was state before this run
	newAccess   bool // this command changes the stored spec so that refused requests may succeed
	usesSecrets bool // of its spec
	longest     longestQueue
	begun       chan struct{} // closed when it is certain that the run is not refused
	before      atomic.Int64  // pages fetched by earlier runs, or notCounted
	asked       bool          // last has been set
	since       uint64        // revision of the deletion after which the crawl began
	reasons     frontierapi.Reasons
	nothing     string             // why the first seed gave no page, or what was found no other one
	waits       bool               // the first seed of this command is queued
	seedsFailed bool               // the seeds of this command, all of them
	unread      bool               // the commits of an output could not be listed
	newest      *frontierapi.Run   // nil if it is the first
	expiry      time.Time          // when it is deleted, having ended; zero for never
	state       crawlspec.RunState // of the spec by which it has ended
	cancelled   []string           // hosts, by that spec

	// unknown is set until it is known that there is a crawl of the name: the error if
	// there is none.
	unknown error

	abandoned  bool // stages still run: what they use must stay as it is
	acksStored bool // the embedded server would forget nothing if it was killed
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
	if c.bus, err = c.connection(messages.StageFrontier); err != nil {
		return err
	}
	c.client.Bus = c.bus
	c.watchDisks()
	if err := checkWritable("--data", c.Data); err != nil {
		return err
	}
	c.Frontier.Partitions = Partitions
	if c.server != nil { // its state is beside the streams, and not shared
		c.Frontier.Take, c.Frontier.SnapshotEvery = frontier.TakeAll, 0
	}
	layout, unknown := c.bus.Existing(ctx)
	if unknown == nil {
		c.Frontier.Partitions = layout.Partitions
	} else if c.server == nil {
		c.Frontier.Partitions = messages.DefaultPartitions
	}
	if err := (outputs{c}).check(ctx, unknown == nil); err != nil {
		return err
	}
	// Side by side: making the store waits for the disk, making streams hardly does.
	var g errgroup.Group
	g.Go(func() error { return frontier.Provision(ctx, c.Frontier, c.bus) })
	g.Go(func() (err error) {
		c.store, err = state.OpenStore(c.Frontier.State, int64(c.Frontier.Cache), c.Frontier.Sync, c.key, c.bus.Log)
		return err
	})
	if err = g.Wait(); err != nil {
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

// openWorkers gives each of the other stages a separate connection, as in
// separate processes: a page on its way would hold up every small message
// behind it.
func (c *crawl) openWorkers(ctx context.Context) error {
	own := make([]*stages.Bus, 2+len(c.Writers()))
	for i := range own {
		stage := []string{messages.StageFetcher, messages.StageParser, messages.StageWriter}[min(i, 2)]
		bus, err := c.connection(stage)
		if err != nil {
			return err
		}
		bus.Layout, own[i] = c.bus.Layout, bus
	}
	var err error
	switch {
	case c.server == nil:
		own[0].MarkStale() // as a process that joins a cluster does
	case c.resumed: // the processes that held messages are gone
		err = own[0].RedeliverUnacked(ctx)
	}
	if err != nil {
		return err
	}
	if c.fetcher, err = fetcher.New(c.Fetcher, own[0], c.specs); err != nil {
		return err
	}
	c.renderer = render.New(c.Browser, c.Log)
	c.fetcher.Render(c.renderer, false)
	if c.parser, err = parser.New(c.Parser, own[1], c.specs); err != nil {
		return err
	}
	if c.Chain {
		c.fetcher.Chain(c.parser.Chain())
	}
	if err := (outputs{c}).open(ctx, own[2:]); err != nil {
		return err
	}
	return outputs{c}.announce(own)
}

func (c *crawl) close() {
	if c.abandoned {
		return // the end of the process closes it all, as kill -9 would
	}
	if c.renderer != nil {
		c.renderer.Close()
	}
	if c.unfollow != nil {
		c.unfollow()
	}
	if c.store != nil {
		if err := c.store.Close(); err != nil {
			c.Log.Error("cannot close the frontier's store", "error", err)
		}
	}
	for i, bus := range slices.Backward(c.buses) {
		if i == 0 && c.Last && c.server != nil { // the other connections have sent theirs
			c.acksStored = storeAcks(bus) == nil
		}
		bus.Close()
	}
}

// specPoll is between two tries to store the spec.
const specPoll = 100 * time.Millisecond

// run starts the stages, watches the crawl, and stops the stages in the order
// of the pipeline, so that each hands on what it has.
func (c *crawl) run(ctx context.Context) (*Summary, error) {
	c.Health.Add("nats", c.ready)
	c.Health.Start()
	g := c.start(ctx)
	gctx := g.Context()
	told, out := report{c}, outputs{c}
	stopRuns := told.keepRuns(gctx)
	c.Flusher.follow(c.writers)
	defer c.Flusher.follow(nil)
	end, err := c.watch(ctx, gctx)
	var slowest []frontierapi.HostStatus
	if err == nil {
		slowest, _ = c.client.Slowest(gctx, c.Crawl, 5)
		c.reasons, _ = c.client.Reasons(gctx, c.Crawl)
		told.explainNothing(gctx)
		told.readNewestRun(gctx)
		c.expiry = told.keptUntil(gctx, end)
		err = c.awaitOthers(ctx, gctx)
	}
	if end != frontierapi.NotEnded && err == nil {
		err = out.await(ctx, gctx)
	}
	if end == frontierapi.Complete && err == nil && ctx.Err() == nil {
		out.markComplete(c.Crawl)
	}
	if ctx.Err() != nil && err == nil {
		g.StopSenders()
		told.countDrained(gctx)
	}
	stopRuns()
	stopped, werr := g.Stop(err != nil)
	c.abandoned = !stopped
	if werr != nil {
		err = out.ended(werr)
	}
	return told.summarise(end, ctx.Err() != nil, slowest, err)
}

// awaitOthers waits until the other crawls have no work, ctx is done, or a stage has failed. The records of a crawl that
// has ended are committed then, and its manifest says at the end whether it is complete.
func (c *crawl) awaitOthers(ctx, stages context.Context) error {
	before := []string{c.Crawl}
	for c.Others != nil && ctx.Err() == nil && stages.Err() == nil {
		if err := c.fatalCondition(); err != nil {
			return err
		}
		now, err := c.Others(stages)
		if err == nil {
			c.ended(stages, slices.DeleteFunc(before, func(name string) bool { return slices.Contains(now, name) }), len(now) > 0)
			before = now
		}
		if err == nil && len(now) == 0 {
			return nil
		}
		_ = sleep.For(stages, othersPoll) // an error means that the loop ends
	}
	return nil
}

// ended marks those crawls that are complete, and commits the records of all unless the stages end soon, which does that.
func (c *crawl) ended(ctx context.Context, names []string, goOn bool) {
	if len(names) > 0 && goOn {
		flush(ctx, c.writers)
	}
	for _, name := range names {
		spec, err := c.specs.Get(ctx, name, 0)
		if err != nil {
			continue
		}
		end, _, err := c.client.CheckEnded(ctx, name, spec.Spec)
		if err == nil && end == frontierapi.Complete {
			outputs{c}.markComplete(name)
		}
	}
}

// start starts the stages.
func (c *crawl) start(ctx context.Context) *stagegroup.Group {
	g := stagegroup.New(ctx)
	g.GoSender(c.fetch)
	g.GoSender(c.parser.Run)
	g.Go(c.frontier.Run)
	g.Go(func(ctx context.Context) error { c.guard(ctx); return nil })
	g.Go(outputs{c}.run)
	return g
}

// fetch runs the fetcher, once the run is not refused any more, and it is known what was
// fetched before: other crawls may be in the same state.
func (c *crawl) fetch(ctx context.Context) error {
	select {
	case <-c.begun:
	case <-ctx.Done():
		return nil
	}
	if c.server != nil && c.resumed {
		report{c}.countBefore(ctx)
	}
	return c.fetcher.Run(ctx)
}

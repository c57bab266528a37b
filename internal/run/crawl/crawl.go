// Package crawl runs a complete crawl in one process: the four stages and, unless a NATS server is
// given, an embedded one. It adds only the order in which they start and stop.
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

// ErrNothingToDo is returned if there are no seeds and Data holds no crawl to continue.
var ErrNothingToDo = errors.New("no URL to start from, and no crawl to resume")

// othersPoll is the interval between checks whether other crawls have work.
const othersPoll = time.Second

// Run crawls until the crawl is complete, reaches a limit, or ctx is done. It may return a summary
// together with an error.
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

// crawl is one run of the four stages.
type crawl struct {
	Options
	dial          dialer
	buses         []*stages.Bus
	bus           *stages.Bus          // used by the crawl and the frontier
	server        *embedded.Server     // nil if the server is not embedded
	key           *stateencryption.Key // encrypts Data; nil if Data is not encrypted
	client        frontierapi.Client
	began         time.Time
	store         *state.Store
	specs         *stages.Specs
	unfollow      func()
	specRev       uint64 // spec revision at the start of this run
	frontier      *frontier.Frontier
	fetcher       *fetcher.Fetcher
	renderer      *render.Renderer
	parser        *parser.Parser
	writers       []*writer.Writer // the writer of records first
	last          frontierapi.Counters
	resumed       bool // the state existed before this run
	newAccess     bool // this command changes the stored spec so that refused requests may succeed
	usesSecrets   bool // the spec uses secrets
	longest       longestQueue
	begun         chan struct{} // closed once this run may fetch
	before        atomic.Int64  // pages fetched by earlier runs, or notCounted
	polled        bool          // last is set
	since         uint64        // revision of the deletion after which the crawl began
	reasons       frontierapi.Reasons
	noPagesReason string             // why the first seed gave no page, or why no other URL was kept
	seedsWait     bool               // the first seed of this command is queued
	seedsFailed   bool               // all seeds of this command failed
	outputUnread  bool               // listing the commits of an output failed
	newest        *frontierapi.Run   // nil for the first run
	expiry        time.Time          // when the ended crawl will be deleted; zero for never
	state         crawlspec.RunState // spec state at the end of the crawl
	cancelled     []string           // hosts that the spec cancels

	// unknown is the error for a crawl that does not exist, until the frontier reports that it
	// knows the crawl.
	unknown error

	abandoned  bool // stages still run, so their resources must not be closed
	acksStored bool // the embedded server has stored all acknowledgements and may be killed
}

// Partitions is the number of partitions of an embedded server. One partition has more capacity
// than one machine needs, writes one output file at a time, and avoids most of the start-up and
// shutdown time of 64 consumers.
const Partitions = 1

// open creates the stages without starting them.
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
	if c.server != nil { // its state is local and not shared
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
	// In parallel, because opening the store waits for the disk and creating streams hardly does.
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

// openWorkers gives each of the other stages its own connection, as separate processes have. On a
// shared connection, large pages would delay small messages.
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
		own[0].MarkStale() // as a process does that joins a cluster
	case c.resumed: // the processes that held the messages are gone
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
		return // the process exit releases everything, as kill -9 would
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
		if i == 0 && c.Last && c.server != nil { // the other connections have flushed their acknowledgements
			c.acksStored = storeAcks(bus) == nil
		}
		bus.Close()
	}
}

// specPoll is the wait between attempts to store the spec.
const specPoll = 100 * time.Millisecond

// run starts the stages, watches the crawl, and stops the stages in pipeline order, so that each
// stage passes on all its messages.
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
		told.setNoPagesReason(gctx)
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

// awaitOthers waits until the other crawls have no work, ctx is done, or a stage has failed. It
// commits the records of each crawl when that crawl ends, and marks complete crawls in their
// manifests.
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
		_ = sleep.For(stages, othersPoll) // an error is handled by the loop condition
	}
	return nil
}

// ended marks the complete crawls among names. If the stages continue, it first commits the
// records; stages that stop commit them on their own.
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
	g.Go(func(ctx context.Context) error { c.runWatchdog(ctx); return nil })
	g.Go(outputs{c}.run)
	return g
}

// fetch runs the fetcher once the run may fetch and the pages of earlier runs are counted.
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

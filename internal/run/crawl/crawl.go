// Package crawl runs a whole crawl in one process: a NATS server, unless there
// is one elsewhere, and the four stages over it. It adds nothing to them but
// the order in which they start and stop.
package crawl

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/sync/errgroup"

	"seine/internal/base/sleep"
	"seine/internal/base/stateencryption"
	"seine/internal/base/tracing"
	"seine/internal/base/version"
	"seine/internal/ops/procstats"
	"seine/internal/output/bucket"
	"seine/internal/render"
	"seine/internal/run/connect"
	"seine/internal/run/embedded"
	"seine/internal/run/specchange"
	"seine/internal/run/stagegroup"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/fetcher"
	"seine/pkg/stages/frontier"
	"seine/pkg/stages/frontier/frontierapi"
	"seine/pkg/stages/frontier/state"
	"seine/pkg/stages/parser"
	"seine/pkg/stages/writer"
)

// Options say what to crawl, and where things go.
type Options struct {
	Crawl string // name of the crawl
	// Unnamed says that nobody gave the name: without seeds, the only crawl of another name continues.
	Unnamed bool
	Seeds   []messages.Seed // may be empty when the crawl is in Data already, or its spec lists some
	// Spec makes the spec from the one that the crawl has, which is the default
	// for a new crawl.
	Spec func(have crawlspec.Spec) (*crawlspec.Spec, error)
	// Again visits all pages of a complete crawl again. A crawl that is not complete continues.
	Again bool
	Data  string // state: streams, frontier, writer
	// EncryptState is the file of the key that the streams and the frontier's store are
	// encrypted with; "" for the one that they have been encrypted with so far, if any.
	EncryptState string
	// NATS is how a server elsewhere is reached; if it names none, one is embedded in
	// Data.
	NATS connect.Options
	// Listen is where the embedded server can be reached, with port 0 for any.
	Listen   string
	Sync     state.Sync
	Fetcher  fetcher.Config
	Browser  render.Config // for pages that the spec wants rendered
	Parser   parser.Config
	Writer   writer.Config   // of the records
	More     []writer.Config // further writers, as of an archive
	Frontier frontier.Config
	Chain    bool // hand pages to the parser in memory
	// Last says that the process ends when Run has returned, so that a small embedded
	// server need not be stopped in order, which takes some 60 ms.
	Last bool
	// Opened, if set, is called once everything could be opened, before anything is
	// fetched.
	Opened func() error
	// Progress, if set, is called with the state of the crawl a few times a second.
	Progress func(Progress)
	// Others, if set, returns the crawls of the directory that have work. The stages run until the crawl has ended and
	// Others returns none.
	Others func(context.Context) ([]string, error)
	// Flusher, if set, has the writers of this crawl commit while it runs.
	Flusher *Flusher
	Log     *slog.Logger
	Tracer  *tracing.Tracer     // nil for no traces
	Vitals  *procstats.Reporter // of this process; reports the disks
	Health  *stages.Health      // of this process; ready when the crawl has begun
}

// DefaultOptions are those of a crawl whose state is in a directory, with everything else as the stages have it by default.
func DefaultOptions(name, data string) Options {
	o := Options{
		Crawl: name, Data: data, Log: slog.New(slog.DiscardHandler),
		Frontier: frontier.DefaultConfig(), Fetcher: fetcher.DefaultConfig(), Parser: parser.DefaultConfig(), Writer: writer.DefaultConfig(),
		Browser: render.DefaultConfig(),
	}
	o.Frontier.State, o.Writer.State = filepath.Join(data, "frontier"), filepath.Join(data, "writer")
	return o
}

// Progress is how a crawl stands.
type Progress struct {
	frontierapi.CrawlStatus
	Elapsed  time.Duration
	MaxPages int64
	State    crawlspec.RunState // of the crawl: one that is paused sends nothing
	NATS     string             // where the streams can be looked at
	Data     string             // the directory that tells commands how, if the server is embedded
	Longest  time.Duration      // how long the longest queue of a host lasts
}

// ErrNothingToDo is returned when there are no seeds, and nothing in Data to
// continue with.
var ErrNothingToDo = errors.New("no URL to start from, and no crawl to resume")

// Waits between queries to the frontier for the state of the crawl, for each
// partition, which is a separate query.
const (
	firstPoll  = 20 * time.Millisecond // the frontier has its partitions then
	minPoll    = 2 * time.Millisecond
	maxPoll    = 30 * time.Millisecond
	idlePoll   = time.Second           // while nothing changes
	leastOfURL = 50 * time.Microsecond // no crawl takes less time for a URL
)

// surveyPoll is the wait between questions for the longest queues, so many.
const (
	surveyPoll = 5 * time.Second
	surveyed   = 3
)

// othersPoll is the wait between questions which other crawls have work.
const othersPoll = time.Second

// settlePoll is the wait between looks at whether the writer has every record,
// which take some requests to the server.
const settlePoll = 5 * time.Millisecond

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

// checkFolders reports, before the state is made, that a folder of the output cannot be
// written, and then the same of the state beside an embedded server. Of the output it leaves
// none that was not there.
func (o *Options) checkFolders() error {
	for _, w := range o.Writers() {
		if bucket.Is(w.Out) || writer.IsDatabase(w.Out) {
			continue
		}
		defer removeEmpty(missing(w.Out))
		if err := checkOut(&w); err != nil {
			return err
		}
	}
	if o.NATS.Given() {
		return nil
	}
	return checkWritable("--data", o.Data)
}

// dialer makes a connection that logs to log.
type dialer func(log *slog.Logger) (*stages.Bus, error)

// connectOrEmbed starts the embedded server, or returns none and uses the one elsewhere.
// The function dial makes a connection to it.
func connectOrEmbed(ctx context.Context, o *Options, key *stateencryption.Key) (dial dialer, s *embedded.Server, err error) {
	if o.NATS.Given() {
		return func(log *slog.Logger) (*stages.Bus, error) { return o.NATS.Dial("seine-crawl", log) }, nil, nil
	}
	host, port, err := splitListen(o.Listen)
	if err != nil {
		return nil, nil, err
	}
	token := embedded.NewToken()
	s, err = startServer(ctx, o.Data, embedded.Options{
		Dir: filepath.Join(o.Data, "nats"), Host: host, Port: port, SyncAlways: o.Sync == state.SyncAlways, Token: token, Key: key.NATS(),
	})
	if errors.Is(err, embedded.ErrInUse) && connect.HasLocal(o.Data) {
		err = fmt.Errorf("%w: change the crawl that runs there with seine spec apply FILE --data %s (seine seed adds URLs, seine status shows it), or start another crawl with another --data", err, o.Data)
	}
	if err != nil {
		return nil, nil, err
	}
	if err := connect.WriteLocal(o.Data, s.URL(), token); err != nil {
		s.Stop()
		return nil, nil, err
	}
	dial = func(log *slog.Logger) (*stages.Bus, error) {
		bus, err := stages.Dial("", "seine-crawl", log, nats.InProcessServer(s.Server()), nats.Token(token), nats.PingInterval(embeddedCheckEvery))
		if err == nil {
			bus.CheckEvery = embeddedCheckEvery
		}
		return bus, err
	}
	return dial, s, nil
}

// embeddedCheckEvery is how often the embedded server is compared with its configuration, and asked whether it is there: this
// process starts and ends it.
const embeddedCheckEvery = time.Minute

// CheckListen reports what is wrong with an address for Options.Listen.
func CheckListen(listen string) error {
	_, _, err := splitListen(listen)
	return err
}

func splitListen(listen string) (string, int, error) {
	host, text, err := net.SplitHostPort(listen)
	if err != nil {
		return "", 0, fmt.Errorf("--listen %q: must be HOST:PORT, such as 127.0.0.1:4222; port 0 for any", listen)
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

// announce makes the stages discoverable, as if each were a process.
func (o outputs) announce(own []*stages.Bus) error {
	err := errors.Join(
		stages.Announce(o.bus, messages.StageFrontier, version.Number, ""),
		stages.Announce(own[0], messages.StageFetcher, version.Number, ""),
		stages.Announce(own[0], messages.StageRenderer, version.Number, ""),
		stages.Announce(own[1], messages.StageParser, version.Number, ""),
	)
	for i, w := range o.Writers() {
		err = errors.Join(err, stages.Announce(own[2+i], messages.StageWriter, version.Number, w.Name))
	}
	return err
}

// connection makes a connection for a stage.
func (c *crawl) connection(stage string) (*stages.Bus, error) {
	bus, err := c.dial(c.Log.With("stage", stage))
	if err == nil {
		bus.Tracer = c.Tracer
		c.buses = append(c.buses, bus)
	}
	return bus, err
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

// storeAcks has the server store what was acknowledged. It stops in order if that takes long.
func storeAcks(bus *stages.Bus) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	return bus.StoreAcks(ctx)
}

// stopServer ends the embedded server, or leaves it to the end of the process if it has
// stored what it would forget.
func (c *crawl) stopServer() {
	if !c.acksStored || !c.server.CanBeLeft() {
		c.server.Stop()
	}
}

// publishSeeds stores the spec and publishes the seeds. Seeds that the frontier knows
// are no news to it, so a crawl is resumed by the same command.
func (c *crawl) publishSeeds(ctx context.Context) error {
	spec, err := c.storeSpec(ctx)
	for errors.Is(err, stages.ErrRevision) && sleep.For(ctx, specPoll) == nil { // another command was faster
		spec, err = c.storeSpec(ctx)
	}
	if err != nil {
		return err
	}
	for _, text := range spec.Ineffective() {
		c.Log.Warn("a key of the spec has no effect", "crawl", c.Crawl, "key", text)
	}
	if !c.Again { // or they come when it is known whether the crawl has ended
		if err := c.feedSeeds(ctx); err != nil {
			return err
		}
	}
	now, err := c.specs.GetSure(ctx, c.Crawl)
	if err == nil && now.Since() > c.specRev {
		// An earlier crawl of the name was deleted meanwhile, with the spec: see crawlspec.Spec.Keep. Those seeds are of a new one
		// then, whose spec another command may have stored.
		rev, perr := c.specs.History.PutAt(ctx, c.Crawl, spec, 0)
		c.specRev = max(rev, now.Rev)
		if !errors.Is(perr, stages.ErrRevision) {
			err = perr
		}
	}
	c.since = now.Since()
	return err
}

// specPoll is between two tries to store the spec.
const specPoll = 100 * time.Millisecond

// storeSpec stores the spec that the crawl has, as the options change it.
func (c *crawl) storeSpec(ctx context.Context) (*crawlspec.Spec, error) {
	have, err := c.specs.Get(ctx, c.Crawl, 0)
	if err != nil {
		return nil, err
	}
	spec, err := c.Spec(*have.Spec)
	if err != nil {
		return nil, err
	}
	if have.Rev > 0 && len(c.Seeds) > 0 {
		c.Log.Info("the crawl continues, with the URLs of this command added; --crawl NAME or another --data begins another", "crawl", c.Crawl)
		c.logKept(spec)
	}
	if blocked := have.Blocked(); blocked != nil {
		// What it has is not to be replaced by what stands for it.
		if own, err := c.Spec(crawlspec.Default()); err != nil || !bytes.Equal(own.Encode(), spec.Encode()) {
			return nil, fmt.Errorf("crawl %s: %w (give it one with --spec)", c.Crawl, blocked)
		}
	}
	if spec.MayRender() {
		if err := c.Browser.Check(); err != nil {
			return nil, fmt.Errorf("crawl %s: its spec wants pages rendered, but %w", c.Crawl, err)
		}
	}
	c.usesSecrets = len(spec.Secrets()) > 0
	spec.Again = max(spec.Again, have.Again) // that of a file never takes back what was asked for
	if c.specRev, err = c.specs.History.Replace(ctx, c.Crawl, spec, have); err == nil && have.Rev > 0 && c.specRev != have.Rev {
		c.logSpecChange(have.Spec, spec)
	}
	return spec, err
}

// logSpecChange warns of what the file and the flags of this command change of the stored spec, which another command
// may have changed meanwhile, and that new rules for records do not apply to pages that were parsed before.
func (c *crawl) logSpecChange(have, now *crawlspec.Spec) {
	lines := specchange.Lines(have.Shown(), now.Shown())
	if len(lines) == 0 {
		return
	}
	c.newAccess = changesAccess(lines)
	c.Log.Warn("this command changes the stored spec of the crawl; seine crawl without --spec and flags keeps it", "crawl", c.Crawl,
		"change", strings.Join(lines[:min(len(lines), mostChanges)], ", "), "changes", len(lines))
	if slices.ContainsFunc(lines, func(line string) bool {
		_, key, _ := strings.Cut(line, " ")
		return strings.HasPrefix(key, "page.") || strings.HasPrefix(key, "records")
	}) {
		c.Log.Warn("the rules for records have changed; pages parsed before keep their records: "+
			"--again visits them again, seine replay parse parses the stored pages again", "crawl", c.Crawl)
	}
}

// mostChanges bounds the changes of a spec that are logged.
const mostChanges = 10

// logKept warns of the keys that a crawl keeps from its stored spec, and that this command does not set.
func (c *crawl) logKept(spec *crawlspec.Spec) {
	said, err := c.Spec(crawlspec.Default())
	if err != nil {
		return // it needs what is stored
	}
	var kept []string
	for _, line := range specchange.Lines(said.Shown(), spec.Shown()) {
		if key, ok := strings.CutPrefix(line, "+ "); ok {
			kept = append(kept, key)
		}
	}
	if len(kept) > 0 {
		c.Log.Warn("the crawl keeps keys of its stored spec", "crawl", c.Crawl, "kept", strings.Join(kept[:min(len(kept), mostChanges)], ", "))
	}
}

// spec returns the spec of the crawl as it is now: anyone may change it while it runs.
func (c *crawl) spec(ctx context.Context) (*crawlspec.Spec, error) {
	r, err := c.specs.Get(ctx, c.Crawl, c.specRev)
	return r.Spec, err
}

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

// keptUntil returns when a crawl that has ended is deleted, the zero time for never.
func (r report) keptUntil(ctx context.Context, end frontierapi.EndReason) time.Time {
	spec, err := r.specs.Get(ctx, r.Crawl, 0)
	if err != nil {
		return time.Time{}
	}
	at, _ := r.client.Expiry(ctx, r.Crawl, spec, end, &r.last) // seine status says what cannot be asked now
	return at
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

// longestQueue is how long the longest queue of a host lasts.
type longestQueue struct {
	asked time.Time // zero before the first question
	lasts time.Duration
}

// look returns it as it was at most surveyPoll ago.
func (q *longestQueue) look(ctx context.Context, c *crawl) time.Duration {
	if now := time.Now(); now.Sub(cmp.Or(q.asked, c.began)) > surveyPoll {
		q.asked = now
		if hosts, err := c.client.Survey(ctx, c.Crawl, surveyed); err == nil {
			q.lasts = hosts.LongestQueue(c.Crawl)
		}
	}
	return q.lasts
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

// watch follows the crawl until it has ended, ctx is done, or a stage has
// failed, which ends the stages' context.
func (c *crawl) watch(ctx, stages context.Context) (frontierapi.EndReason, error) {
	wait := time.Duration(0)
	for {
		pause := cmp.Or(wait, firstPoll) * time.Duration(c.bus.Layout.Partitions)
		select {
		case <-ctx.Done():
			return frontierapi.NotEnded, nil
		case <-stages.Done():
			return frontierapi.NotEnded, nil // Wait will say why
		case <-time.After(pause):
		}
		if err := c.fatalCondition(); err != nil {
			return frontierapi.NotEnded, err
		}
		if c.deleted() != nil {
			c.finishDeletion(ctx, stages)
			return frontierapi.NotEnded, ErrDeleted
		}
		spec, err := c.spec(stages)
		var end frontierapi.EndReason
		var counters frontierapi.CrawlStatus
		if err == nil {
			end, counters, err = c.client.CheckEnded(stages, c.Crawl, spec)
		}
		if errors.Is(err, frontierapi.ErrUnanswered) || stages.Err() != nil {
			continue // not all partitions are open yet
		}
		if err != nil {
			c.Log.Debug("cannot ask the frontier", "error", err)
			continue
		}
		if c.unknown != nil {
			if err := c.beginOrRefuse(stages, end, &counters.Counters); err != nil {
				return frontierapi.NotEnded, err
			}
			continue
		}
		if c.server == nil && c.resumed && !c.asked { // others may fetch meanwhile
			c.before.Store(counters.Pages)
		}
		if c.Again && !c.asked {
			end = frontierapi.NotEnded
			if err := c.visitAgain(stages, spec, &counters); err != nil {
				return end, err
			}
		}
		if c.resumed && !c.Again && !c.asked && (failureRetry{c}).run(stages, &counters.Counters) {
			end = frontierapi.NotEnded
		}
		wait = c.untilPoll(wait, &counters.Counters, spec)
		c.asked = true
		c.last, c.state = counters.Counters, spec.State
		if c.Progress != nil {
			c.Progress(Progress{CrawlStatus: counters, Elapsed: time.Since(c.began), MaxPages: spec.MaxPages, State: spec.State, NATS: c.bus.NC.ConnectedUrlRedacted(), Data: c.local(), Longest: c.longest.look(stages, c)})
		}
		switch {
		case end == frontierapi.Empty && len(c.Seeds) > 0: // they are on their way
		case end == frontierapi.Empty:
			return frontierapi.NotEnded, fmt.Errorf("%w: crawl %s", ErrNothingToDo, c.Crawl)
		case end != frontierapi.NotEnded:
			c.state, c.cancelled = spec.State, spec.CancelledHosts()
			return end, nil
		}
	}
}

// local is the directory that tells commands how to look in, "" if the server is
// elsewhere.
func (c *crawl) local() string {
	if c.server == nil {
		return ""
	}
	return c.Data
}

// untilPoll returns how long to wait before the next question, when the last
// wait and the counters were these. A crawl that has much to do cannot end
// soon; one that is stalled need not be asked often: the wait grows to a quarter of the
// time since the last change.
func (c *crawl) untilPoll(last time.Duration, now *frontierapi.Counters, spec *crawlspec.Spec) time.Duration {
	left := now.Pending()
	if spec.MaxPages > 0 {
		left = min(left, spec.MaxPages-now.Pages)
	}
	wait := min(max(time.Duration(left)*leastOfURL, minPoll), maxPoll)
	if now.Changed == c.last.Changed {
		wait = min(max(wait, last+last/4), idlePoll)
	}
	return wait
}

// fatalCondition returns what stops the crawl and only a person can fix. In
// separate processes a stage waits until it is fixed; here the person is
// waiting too.
func (c *crawl) fatalCondition() error {
	if err := (outputs{c}).trouble(); err != nil {
		return err
	}
	if c.server != nil {
		return errors.Join(checkDisk(c.Data), c.server.Err())
	}
	for _, bus := range c.buses {
		if err := bus.Refusals.Err(); err != nil {
			return err
		}
	}
	return nil
}

// ready returns what is wrong with the connections, nil if nothing.
func (c *crawl) ready() error {
	for _, bus := range c.buses {
		if err := bus.Ready(); err != nil {
			return err
		}
	}
	return nil
}

// explain returns err, or what a server elsewhere refused that is behind it.
func (c *crawl) explain(err error) error {
	for _, bus := range c.buses {
		err = bus.Refusals.WithErr(err)
	}
	return err
}

// await waits until the writers have everything, or ctx is done.
func (o outputs) await(ctx, stages context.Context) error {
	for {
		done, err := o.caughtUp(stages)
		if err != nil && stages.Err() == nil {
			o.Log.Debug("cannot ask the writer", "error", err)
		}
		if done || ctx.Err() != nil || stages.Err() != nil {
			return nil
		}
		if err := o.fatalCondition(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
		case <-stages.Done():
		case <-time.After(settlePoll):
		}
	}
}

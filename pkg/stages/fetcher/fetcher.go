package fetcher

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nuid"
	"golang.org/x/sync/errgroup"

	"seine/internal/base/procname"
	"seine/internal/base/recent"
	"seine/internal/base/weburl"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/fetcher/httpclient"
)

// Fetcher fetches the requests of FETCH.
type Fetcher struct {
	cfg        Config
	bus        *stages.Bus
	specs      *stages.Specs
	name       string // of this instance, for users
	claimantID string // of this process, for claims; it handles a request only once at a time
	inFlight   inFlightLocks
	epochs     epochFence

	parser     *stages.Chain // nil if pages are parsed elsewhere
	renderer   pageRenderer  // nil if no page is rendered
	renderOnly bool          // it takes only requests whose pages may need a browser
	auto       *autoRender

	client *httpclient.Client
	get    exchanger // client, unless replaced
	robots *robotsCache
	bodies *bodyPacker

	// Caches of values made from the specs.
	policies stages.SpecCache[*httpclient.Policy]
	rules    stages.SpecCache[*weburl.Normalizer]
	scopes   stages.SpecCache[*redirectScope]

	// Origins whose sitemaps were sent to the frontier, per run of a crawl; and origins whose
	// withheld credentials were logged, per revision of a spec.
	sentSitemaps, loggedSecrets recent.Cache[string, bool]
}

// New returns a fetcher that does nothing before Run. specs must be running, and bus must know its
// layout.
func New(cfg Config, bus *stages.Bus, specs *stages.Specs) (*Fetcher, error) {
	bodies, err := newBodyPacker(bus.Log)
	if err != nil {
		return nil, fmt.Errorf("fetcher: %w", err)
	}
	f, err := newFetcher(cfg, bodies, bus.Log)
	if err != nil {
		return nil, fmt.Errorf("fetcher: %w", err)
	}
	f.bus, f.specs, f.bodies = bus, specs, bodies
	f.name, f.claimantID = procname.Instance(), nuid.Next()
	f.epochs = make(epochFence, bus.Layout.Partitions)
	return f, nil
}

// Chain makes the fetcher pass its pages to a parser in memory. It must be called before Run.
func (f *Fetcher) Chain(parser *stages.Chain) { f.parser = parser }

// maxRemembered bounds the entries of both caches. After an eviction, sitemaps are sent or the
// warning is logged again.
const maxRemembered = 1 << 15

// newFetcher returns a fetcher without a bus, which can only send requests to hosts.
func newFetcher(cfg Config, bodies httpclient.LargeBodies, log *slog.Logger) (*Fetcher, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	c, err := httpclient.New(cfg.Config, bodies, log)
	if err != nil {
		return nil, err
	}
	return &Fetcher{
		cfg: cfg, client: c, get: c, robots: newRobotsCache(c, log),
		auto: newAutoRender(), sentSitemaps: recent.Cache[string, bool]{Most: maxRemembered}, loggedSecrets: recent.Cache[string, bool]{Most: maxRemembered},
		policies: stages.SpecCache[*httpclient.Policy]{Make: c.Compile, Current: (*httpclient.Policy).Current},
		rules:    stages.SpecCache[*weburl.Normalizer]{Make: (*crawlspec.Spec).Normalizer},
		scopes:   stages.SpecCache[*redirectScope]{Make: newRedirectScope},
	}, nil
}

// Run fetches until ctx is done, then finishes in-flight requests within the drain time. It must be
// called once.
func (f *Fetcher) Run(ctx context.Context) error {
	if err := f.open(ctx); err != nil {
		return err
	}
	defer f.client.Close()
	stages.TrustNewRequests(ctx, f.bus)
	g, ctx := errgroup.WithContext(ctx)
	if !f.renderOnly {
		g.Go(func() error { return f.take(ctx, messages.StageFetcher, messages.ConsumerFetch) })
	}
	if f.renderer != nil {
		g.Go(func() error { return rendering{f}.takeRendered(ctx) })
	}
	return g.Wait()
}

// take handles the requests of a consumer of FETCH.
func (f *Fetcher) take(ctx context.Context, stage, durable string) error {
	consumer, _ := messages.NamedConsumer(messages.StreamFetch, durable)
	stop, err := f.bus.MarkStaleOnElection(messages.StreamFetch, durable)
	if err != nil {
		return err
	}
	defer stop()
	r := &stages.Runner{
		Stage: stage, Bus: f.bus, Stream: messages.StreamFetch, Consumer: consumer,
		Workers: f.cfg.Workers, Prefetch: f.cfg.prefetch(),
		Handle: f.handle, OnDeadLetter: composer{f}.onDeadLetter, Describe: subject, Drain: time.Duration(f.cfg.Drain),
	}
	return r.Run(ctx)
}

// open opens the buckets.
func (f *Fetcher) open(ctx context.Context) error {
	kv, err := f.bus.Bucket(ctx, messages.BucketRobots)
	if err != nil {
		return err
	}
	objects, err := f.bus.LargeBodies(ctx)
	if err != nil {
		return err
	}
	f.robots.bucket, f.bodies.objects = kv, objects
	return nil
}

// subject returns the context of a message of FETCH.
func subject(m *stages.Message) stages.MessageContext {
	req, err := messages.DecodeRequest(m.Data)
	if err != nil {
		return stages.MessageContext{}
	}
	return stages.MessageContext{Crawl: req.Crawl, URL: req.URL, Visit: req.Visit, Attempt: req.Attempt}
}

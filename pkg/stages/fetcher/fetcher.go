package fetcher

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nuid"

	"seine/internal/base/sleep"
	"seine/internal/base/weburl"
	"seine/internal/fetch/robots"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/fetcher/httpclient"
)

// Fetcher fetches what FETCH asks for.
type Fetcher struct {
	hands      inFlightLocks
	cfg        Config
	bus        *stages.Bus
	specs      *stages.Specs
	name       string // of this instance, for a person
	claimantID string // of this process, for the frontier; it has a request once in hand
	client     *httpclient.Client
	get        exchanger // client, unless something else is to fetch
	policies   policyCache
	robots     *robotsCache
	told       *announcedSitemaps
	// withheld remembers of which origins the log says that they get no credentials.
	withheld *announcedSitemaps
	bodies   *bodyStore
	rules    stages.SpecCache[*weburl.Normalizer]
	scopes   stages.SpecCache[*scope]
	epochs   epochFence
}

// maxPending is how many requests may be with fetchers at a time, all
// instances together: more than FETCH ever holds.
const maxPending = 1 << 16

// New returns a fetcher that does nothing before Run. Specs must be running,
// and bus must know its layout.
func New(cfg Config, bus *stages.Bus, specs *stages.Specs) (*Fetcher, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("fetcher: %w", err)
	}
	bodies, err := newBodyStore(bus.Log)
	if err != nil {
		return nil, fmt.Errorf("fetcher: %w", err)
	}
	c, err := httpclient.New(cfg.Config, bodies, bus.Log)
	if err != nil {
		return nil, fmt.Errorf("fetcher: %w", err)
	}
	r, err := newRobotsCache(c, bus.Log.Warn)
	if err != nil {
		return nil, fmt.Errorf("fetcher: %w", err)
	}
	heard, err := newAnnouncedSitemaps()
	if err != nil {
		return nil, fmt.Errorf("fetcher: %w", err)
	}
	withheld, err := newAnnouncedSitemaps()
	if err != nil {
		return nil, fmt.Errorf("fetcher: %w", err)
	}
	return &Fetcher{
		cfg: cfg, bus: bus, specs: specs, name: instance(), claimantID: nuid.Next(), client: c, get: c, robots: r, told: heard, withheld: withheld,
		policies: policyCache{client: c},
		rules:    stages.SpecCache[*weburl.Normalizer]{Make: (*crawlspec.Spec).Normalizer},
		scopes:   stages.SpecCache[*scope]{Make: newScope},
		bodies:   bodies, epochs: make(epochFence, bus.Layout.Partitions),
	}, nil
}

// instance names this process.
func instance() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return host + "-" + strconv.Itoa(os.Getpid())
}

// Run fetches until ctx is done, then finishes what is under way within the
// drain time. It is called once.
func (f *Fetcher) Run(ctx context.Context) error {
	if err := f.open(ctx); err != nil {
		return err
	}
	defer f.client.Close()
	stop, err := f.bus.MarkStaleOnElection(messages.StreamFetch, messages.ConsumerFetch)
	if err != nil {
		return err
	}
	defer stop()
	r := &stages.Runner{
		Stage: messages.StageFetcher, Bus: f.bus, Stream: messages.StreamFetch,
		Consumer: messages.WorkConsumer(messages.ConsumerFetch, "seine.fetch.*.*", maxPending),
		Workers:  f.cfg.Workers, Prefetch: f.cfg.prefetch(),
		Handle: f.handle, OnDeadLetter: f.onDeadLetter, Describe: subject, Drain: time.Duration(f.cfg.Drain),
	}
	return r.Run(ctx)
}

// open finds the buckets.
func (f *Fetcher) open(ctx context.Context) error {
	kv, err := f.bus.Bucket(ctx, messages.BucketRobots)
	if err != nil {
		return err
	}
	objects, err := f.bus.Bodies(ctx)
	if err != nil {
		return err
	}
	f.robots.bucket, f.bodies.objects = kv, objects
	return nil
}

// subject tells what a message of FETCH is about.
func subject(m *stages.Message) stages.MessageContext {
	req, err := messages.DecodeRequest(m.Data)
	if err != nil {
		return stages.MessageContext{}
	}
	return stages.MessageContext{Crawl: req.Crawl, URL: req.URL, Visit: req.Visit, Attempt: req.Attempt}
}

// fetchJob is one request on its way through the stage.
type fetchJob struct {
	req       *messages.Request
	spec      crawlspec.Revision
	partition int
	ask       httpclient.Request
	reply     *httpclient.Reply // how it ended
	robots    *robots.File      // nil if it was not asked for
	group     *robots.Group     // of robots.txt that applies, nil if none does
	delay     *messages.Millis  // of robots.txt, nil if that was not learnt
	// answers are what was answered in this turn beside its page, to be archived; hops
	// of them are of the page's own request, and via is where the last of those went.
	answers []*nats.Msg
	hops    int
	via     string
	noted   *httpclient.Reply // whose answer is among them
}

// handle takes one request of FETCH to its result.
func (f *Fetcher) handle(ctx context.Context, m *stages.Message) (out stages.Output, err error) {
	req, err := decodeRequest(m.Data)
	if err != nil {
		return stages.Output{}, stages.PoisonError(err)
	}
	spec, err := f.specs.Get(ctx, req.Crawl, req.Rev)
	if err != nil {
		return stages.Output{}, err
	}
	if spec.Deleted(req.Rev) {
		return stages.Output{}, nil // nobody waits for the result
	}
	letGo, err := f.hands.lock(ctx, req.ID())
	if err != nil {
		return stages.Output{}, err
	}
	t := f.newTurn(req, spec)
	free := func() {
		t.release()
		letGo()
	}
	defer func() {
		if out.Free == nil { // it failed, or panicked
			free()
		}
	}()
	if out, err = f.process(ctx, m, t); err == nil {
		out.Free = free // the page holds the body until it is stored
	}
	return out, err
}

// process uses the turn, if it is still wanted, and composes what comes of it.
func (f *Fetcher) process(ctx context.Context, m *stages.Message, t *fetchJob) (stages.Output, error) {
	req := t.req
	if f.notToSend(t) {
		return f.compose(ctx, t)
	}
	for unsure := false; ; unsure = true {
		if err := f.bus.AwaitConnection(ctx); err != nil {
			return stages.Output{}, err
		}
		began, good := time.Now(), time.Duration(math.MaxInt64)
		if unsure || f.epochs.outdated(t.partition, req.Epoch) || f.bus.MaybeStale(m) {
			if wanted, err := f.suspect(ctx, req); err != nil || !wanted {
				return stages.Output{}, err // its result is known: nothing is left to do
			}
			good = messages.ClaimStartWindow
		}
		granted := time.Now()
		t.ask.StillValid = func() bool { return f.bus.StableSince(began) && time.Since(granted) < good }
		err := f.fetch(ctx, t)
		if errors.Is(err, httpclient.ErrNotSent) {
			t.release()
			t.reply = nil
			t.askFor(req.URL, true) // a redirect may have led away from it
			continue
		}
		if err != nil {
			return stages.Output{}, err
		}
		return f.compose(ctx, t)
	}
}

// decodeRequest reads a request and refuses a URL that is not canonical, since
// everything behind takes its parts by position.
func decodeRequest(payload []byte) (*messages.Request, error) {
	req, err := messages.DecodeRequest(payload)
	if err != nil {
		return nil, err
	}
	canonical, err := weburl.Canonicalize(req.URL)
	if err != nil {
		return nil, fmt.Errorf("decode request: %w", err)
	}
	if canonical != req.URL {
		return nil, fmt.Errorf("decode request: URL %s is not canonical, that is %s", messages.Clip(req.URL), canonical)
	}
	return req, nil
}

// suspect reports whether a request that somebody may have done before is
// still to be done. It lets the host rest first: the other may have asked it
// just now, and may be about to say so.
func (f *Fetcher) suspect(ctx context.Context, req *messages.Request) (bool, error) {
	if rest := time.Duration(max(req.Delay, req.Interval)); rest > 0 {
		if err := httpclient.Timed(waitRedelivery, func() error { return sleep.For(ctx, rest) }); err != nil {
			return false, err
		}
	}
	return f.bus.ClaimRequest(ctx, req, f.claimantID)
}

func (f *Fetcher) newTurn(req *messages.Request, spec crawlspec.Revision) *fetchJob {
	partition := messages.Partition(req.URL, f.bus.Layout.Partitions)
	t := &fetchJob{
		req: req, spec: spec, partition: partition,
		ask: httpclient.Request{
			CookieJar: messages.Incarnation(req.Crawl, req.Visit.Incarnation()), URL: req.URL,
			Spacing: time.Duration(max(req.Delay, req.Interval)), Archive: spec.Archive,
			Object: objectName(partition, messages.VisitID(req.Crawl, req.Visit)),
			ETag:   req.ETag, LastModified: req.LastModified, NoResend: req.NoResend,
		},
	}
	t.bound()
	return t
}

// bound sets what the request may take, by the spec and the source of its host.
func (t *fetchJob) bound() {
	l := t.spec.HostLimits(weburl.Hostname(t.req.URL))
	t.ask.Timeout, t.ask.MaxBody = time.Duration(l.Timeout), int64(l.MaxBody)
}

// notToSend finds what keeps a request from being sent, and makes it the reply:
// the crawl was cancelled since, or the spec asks for what is not there.
func (f *Fetcher) notToSend(t *fetchJob) bool {
	if err := t.spec.Blocked(); err != nil {
		t.reply = httpclient.Unsent(httpclient.Failf(messages.ClassCancelled, "%v", err))
		return true
	}
	if _, state := t.spec.HostPoliteness(weburl.Hostname(t.req.URL)); state == crawlspec.Cancelled {
		t.reply = httpclient.Unsent(httpclient.Failf(messages.ClassCancelled, "the crawl, or what it wants of this host, was cancelled"))
		return true
	}
	return f.lacks(t)
}

// lacks reports whether the spec asks for what this fetcher or the URL does not
// have, and makes that the reply.
func (f *Fetcher) lacks(t *fetchJob) bool {
	t.ask.Policy = f.policies.of(t.req.Crawl, t.spec.Spec)
	lack := t.ask.Policy.Lacks(t.ask.URL)
	if lack != nil {
		t.reply = httpclient.Unsent(lack)
	}
	return lack != nil
}

// release gives back the memory of the body.
func (t *fetchJob) release() {
	if t.reply != nil {
		t.reply.Release()
	}
}

// fetch uses the turn: for robots.txt, for the page, or for both where the host
// needs no rest. It returns an error only if ctx is done, or httpclient.ErrNotSent.
func (f *Fetcher) fetch(ctx context.Context, t *fetchJob) error {
	if t.spec.Robots == crawlspec.RobotsObey {
		if err := f.checkRobots(ctx, t); err != nil || t.reply != nil {
			return err
		}
	}
	if err := f.doExchange(ctx, t); err != nil {
		return err
	}
	return f.followSelfRedirects(ctx, t)
}

// doExchange does one exchange. It returns an error only if ctx is done, or httpclient.ErrNotSent.
func (f *Fetcher) doExchange(ctx context.Context, t *fetchJob) error {
	r, err := f.get.Do(ctx, &t.ask)
	t.reply = r
	f.tellWithheld(t)
	if err != nil {
		return err
	}
	return ctx.Err()
}

// tellWithheld logs, once for an origin and a revision of the spec, that
// credentials are not sent there.
func (f *Fetcher) tellWithheld(t *fetchJob) {
	why := t.ask.Policy.Withheld(t.ask.URL)
	if why == "" || f.bus == nil { // Once tells its caller
		return
	}
	key := fmt.Sprint(t.req.Crawl, " ", t.spec.Rev, " ", weburl.Origin(t.ask.URL))
	if _, said := f.withheld.origins.GetIfPresent(key); !said {
		f.withheld.origins.Set(key, true)
		f.bus.Log.Warn("credentials are not sent", "crawl", t.req.Crawl, "reason", why)
	}
}

// checkRobots asks robots.txt. If that decides the turn, t has its reply.
func (f *Fetcher) checkRobots(ctx context.Context, t *fetchJob) error {
	got, err := f.robots.get(ctx, &t.ask)
	if err != nil {
		return err
	}
	t.noteRobots(got.hops)
	if got.file == nil {
		t.reply = unreachable(got.last)
		return nil
	}
	t.robots = got.file.File
	group := got.file.Group(t.spec.ProductToken())
	t.group = group
	delay, _ := group.CrawlDelay()
	t.delay = (*messages.Millis)(&delay)
	path := weburl.Path(t.req.URL)
	switch {
	case !group.Allowed(path):
		t.reply = got.used()
		t.reply.Class, t.reply.Text = messages.RobotsDenied, "robots.txt: "+group.Rule(path)
	case got.last != nil && (t.ask.Spacing > 0 || delay > 0):
		t.reply = got.used()
		t.reply.Class = messages.RobotsFetched
	}
	return nil
}

// used returns a reply with what is known of the exchange for robots.txt, if
// there was one. The status stays out: it is not that of the page.
func (g robotsLookup) used() *httpclient.Reply {
	if g.last == nil {
		return &httpclient.Reply{Started: time.Now()}
	}
	return bareExchange(g.last)
}

// bareExchange returns a reply with what is known of the exchange alone.
func bareExchange(r *httpclient.Reply) *httpclient.Reply {
	return &httpclient.Reply{
		Started: r.Started, Timings: r.Timings, IP: r.IP, Protocol: r.Protocol,
		BytesWire: r.BytesWire, RetryAfter: r.RetryAfter,
	}
}

// askedBefore notes that the host was asked before in this turn, and answered, whatever
// became of r.
func askedBefore(r, before *httpclient.Reply) {
	r.IP = before.IP
	r.BytesWire += before.BytesWire
	r.Timings.FirstByte = cmp.Or(r.Timings.FirstByte, before.Timings.FirstByte)
}

// unreachable makes the end of a robots.txt that could not be had that of the
// page, in a class that lets it be tried again. Only an address that may not be
// dialled stays as it is: the page would be refused as well.
func unreachable(last *httpclient.Reply) *httpclient.Reply {
	r := bareExchange(last)
	r.Class, r.Text, r.Detail = last.Class, "robots.txt: "+last.Text, last.Detail
	if !r.Class.Retryable() && r.Class != messages.RefusedAddress {
		r.Class = messages.ProtocolError
	}
	return r
}

package state

import (
	"context"
	"log/slog"
	"math"

	"seine/pkg/messages"
)

// Partition is the state of one partition with all its operations. It does not use NATS: a
// partition loop, or a test, connects it. Its methods change the current turn, which Commit ends.
// Parameters named now are in the partition's own time: see partitionTime.
//
// It consists of parts. Each uses only those above it.
type Partition struct {
	*core
	visits     *visits
	discovery  *discovery
	Requests   *Requests
	Dispatcher *Dispatcher
	Seeds      *SpecSeeds
	reviews    *reviews
	Removals   *Removals
	Budgets    *Budgets
	Questions  *Questions
}

// core is what all other parts of a partition build on: its state in memory and in the store.
type core struct {
	*base
	crawls   *crawls
	runs     *runs
	hosts    *hosts
	schedule *schedule
	urls     *urls
	queues   *queues
	scope    *scope
}

// Options configure a partition.
type Options struct {
	Partition int
	// Partitions is the total number of partitions; 0 means 1.
	Partitions int
	Epoch      uint64        // of the lease
	Era        func() uint64 // era of the cluster: see messages.KeyEra; nil means 0
	Clock      *Clock
	Specs      SpecSource
	MaxHosts   int   // maximum in memory
	Recent     int64 // bytes for recently seen URLs
	Offline    bool  // answer questions but start no scheduled runs
	Replaying  bool  // the state is behind the streams, until Resume
	Addresses  *IPLimiter
	Log        *slog.Logger
}

// Open loads the parts of a partition that must be in memory. The filters of known URLs are filled
// while it already works.
func Open(ctx context.Context, store *Store, o Options) (*Partition, error) {
	p := newPartition(store, o)
	o.Addresses.arrived()
	loadCrawls := func() error { return p.crawls.open(o.Clock) }
	for _, load := range []func() error{p.loadPositions, p.Removals.load, loadCrawls, p.Requests.loadInFlight, p.Requests.checkInFlight} {
		if err := load(); err != nil {
			p.release()
			return nil, err
		}
	}
	p.crawls.loader = startLoader(ctx, p.crawls)
	return p, nil
}

// newPartition connects the parts of a partition, each with the parts that it uses.
func newPartition(store *Store, o Options) *Partition {
	b := &base{
		store: store, tx: newTx(store, o.Partition), partition: o.Partition, partitions: max(1, o.Partitions), epoch: o.Epoch, era: o.Era, log: o.Log, offline: o.Offline,
		replaying: o.Replaying, loggedRepairs: make(map[string]bool), suspects: make(map[string]bool),
	}
	if b.era == nil {
		b.era = func() uint64 { return 0 }
	}
	t := newCore(b, &o)
	p := &Partition{core: t, visits: &visits{t}, Seeds: &SpecSeeds{base: b}, Budgets: &Budgets{t}}
	p.discovery = &discovery{core: t, visits: p.visits, recent: newRecentLinks(o.Recent)}
	p.Requests = &Requests{core: t, visits: p.visits, pacer: &pacer{base: b, hosts: t.hosts, addresses: o.Addresses}, nextInFlightDeadline: math.MaxInt64}
	p.Dispatcher = &Dispatcher{core: t, visits: p.visits, requests: p.Requests}
	p.reviews = &reviews{t, p.visits, p.discovery, p.Seeds}
	p.Removals = &Removals{core: t, requests: p.Requests}
	p.Questions = &Questions{t, p.Requests}
	return p
}

func newCore(b *base, o *Options) *core {
	t := &core{base: b, crawls: newCrawls(b, o.Specs)}
	t.runs = &runs{b, t.crawls}
	t.hosts = newHosts(b, t.crawls, o.MaxHosts)
	t.schedule = &schedule{base: b, hosts: t.hosts}
	t.urls = &urls{base: b, crawls: t.crawls, runs: t.runs, inFlight: make(map[urlID]*Request)}
	t.queues = &queues{base: b, hosts: t.hosts, urls: t.urls}
	t.scope = &scope{b, t.crawls, t.urls}
	return t
}

// Close releases the resources that the partition shares with others. Uncommitted changes are lost.
func (p *Partition) Close() {
	p.crawls.loader.stop()
	p.release()
	for _, c := range p.crawls.active {
		c.seen.drop()
	}
}

// release releases shared resources.
func (p *Partition) release() {
	p.tx.Close()
	for _, req := range p.urls.inFlight {
		p.Requests.pacer.addresses.end(req.ip)
	}
}

// TurnBytes is the approximate size of the messages that one turn applies.
const TurnBytes = 512 << 10

// Now returns the partition's time, Unix ns: see partitionTime.
func (p *Partition) Now() int64 { return p.time.now() }

// Positions returns the positions up to which the streams are applied. The caller must not change
// them.
func (p *Partition) Positions() map[string]messages.Position { return p.positions }

// HasDue reports whether a host may be due now.
func (p *Partition) HasDue(now int64) bool {
	return len(p.schedule.ready) > 0 || p.schedule.nextDue <= now
}

// Replaying reports whether the state is behind the streams, until Resume.
func (p *Partition) Replaying() bool { return p.replaying }

// ApplyCandidates applies a message of URLS: it queues or excludes new URLs, and ends the visit
// that the message ends. It returns the invalid URLs. Call Removals.Begin before.
func (p *Partition) ApplyCandidates(m *messages.Candidates, partitions int, now int64) (bad []messages.BadURL, err error) {
	rules, err := p.crawls.admits(m.Crawl, m.Rev)
	if err != nil || rules == nil {
		return nil, err
	}
	return p.discovery.take(m, rules, partitions, now)
}

// ApplyResult applies a message of RESULTS. A result for a visit that is not in progress is a
// repeat and changes nothing, unless this state is older than the request: see adopt. Call
// Removals.Begin before.
func (p *Partition) ApplyResult(res *messages.Result, now int64) error {
	rules, err := p.crawls.admits(res.Crawl, res.Rev)
	if err != nil || rules == nil {
		return err
	}
	return p.Requests.takeResult(res, rules, now)
}

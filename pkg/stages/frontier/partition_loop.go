package frontier

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"seine/internal/base/tracing"
	"seine/internal/frontier/state"
	"seine/internal/streams/jsclient"
	"seine/internal/streams/partition"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// partitionLoop runs the state of a partition: it feeds it messages and the time, and publishes its
// requests to FETCH.
type partitionLoop struct {
	state     *state.Partition
	f         *Frontier
	partition int
	epoch     uint64
	log       *slog.Logger
	streams   leaders
	urls      *partition.OrderedReader
	results   *partition.OrderedReader
	queries   chan queuedQuery
	calls     chan func() // see inLoop

	ends        map[string]uint64            // of the streams when the partition was opened
	inherited   map[uint64]*messages.Request // requests in FETCH at that time, if another store sent them
	applied     int                          // bytes of messages in this turn
	acks        map[string]*partition.ReaderMessage
	outbox      chan []outgoing
	published   chan []outgoing
	publishing  int // batches in the outbox
	dead        []*nats.Msg
	counted     state.FetchCapacity // in-flight requests that are included in the frontier's totals
	traced      tracing.DeferredSpans
	fetchLife   time.Time // when FETCH was created, if visits are traced
	grants      chan *state.BudgetAnswer
	seedBatches chan []*messages.Candidates // seeds of specs
	saver       snapshotter
	surveyed    surveyed

	slack      int64 // of the state, after the last turn
	batchUntil int64 // until when messages wait for the next turn, 0 if they do not
}

// leaders reads streams from their leaders.
type leaders interface {
	ReadFromLeader(ctx context.Context, stream string, want jsclient.Lookup) (*jsclient.StoredMessage, error)
}

const (
	maxPublishing = 4                     // batches of requests being published to FETCH
	starved       = 10 * time.Millisecond // wait for capacity in FETCH or in the outbox
)

// runPartition runs partition p until ctx is done.
func (f *Frontier) runPartition(ctx context.Context, p int, epoch uint64) error {
	part, err := f.acquirePartition(ctx, p, epoch)
	if err != nil {
		return f.retryLater(p, ignoreDone(ctx, err))
	}
	defer part.close()
	f.attach(part)
	defer f.detach(part)
	defer part.saver.end(ctx)()
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() error { return part.urls.Run(gctx) })
	g.Go(func() error { return part.results.Run(gctx) })
	g.Go(func() error { return part.publish(gctx) })
	g.Go(func() error { return part.publishSeeds(gctx) })
	g.Go(func() error { return lostPages{part}.find(gctx) })
	g.Go(func() error { return part.loop(gctx) })
	err = g.Wait()
	if errors.Is(context.Cause(ctx), partition.ErrRebalanced) {
		part.finalSnapshot()
	}
	if errors.Is(err, errReplaced) {
		return f.retryLater(p, err)
	}
	return ignoreDone(ctx, err)
}

// acquirePartition takes over the state of a partition and opens it.
func (f *Frontier) acquirePartition(ctx context.Context, p int, epoch uint64) (*partitionLoop, error) {
	restored, err := takeover{f}.run(ctx, p, epoch)
	if err != nil {
		return nil, err
	}
	return f.open(ctx, p, epoch, restored)
}

// retryLater returns nil for an error that may be temporary: the partition is released for any
// frontier that can take it. A cluster that elects a leader answers no request, and a client that
// still talks to a deposed leader reads stale data.
func (f *Frontier) retryLater(p int, err error) error {
	if jsclient.Unavailable(err) || errors.Is(err, partition.ErrStale) {
		f.log.Warn("cannot take over a partition", "partition", p, "error", err)
		return nil
	}
	return err
}

// ignoreDone returns nil for an error that is due to the end of ctx.
func ignoreDone(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	for _, end := range []error{context.Canceled, context.DeadlineExceeded, context.Cause(ctx)} {
		if errors.Is(err, end) {
			return nil
		}
	}
	return err
}

// open reads the state of a partition and determines what to replay.
func (f *Frontier) open(ctx context.Context, p int, epoch uint64, restored bool) (_ *partitionLoop, err error) {
	log := f.log.With("partition", p)
	if err := f.readEra(ctx); err != nil {
		return nil, err
	}
	s, err := state.Open(ctx, f.store, state.Options{
		Partition: p, Partitions: f.bus.Layout.Partitions, Epoch: epoch, Era: f.era, Clock: f.clock, Specs: specSource{f.specs, f, ctx}, MaxHosts: f.cfg.hostsPerPartition(f.bus.Layout.Partitions),
		Offline: f.cfg.Offline, Replaying: true,
		Recent:    int64(f.cfg.Known) / int64(f.bus.Layout.Partitions),
		Addresses: f.addresses, Log: log,
	})
	if err != nil {
		return nil, fmt.Errorf("open partition %d: %w", p, err)
	}
	part := &partitionLoop{
		state: s, f: f, partition: p, epoch: epoch, log: log, streams: f.bus, queries: make(chan queuedQuery, 64), calls: make(chan func()), ends: make(map[string]uint64),
		acks:   make(map[string]*partition.ReaderMessage),
		outbox: make(chan []outgoing, maxPublishing), published: make(chan []outgoing, maxPublishing),
		grants: make(chan *state.BudgetAnswer, 16), seedBatches: make(chan []*messages.Candidates, 1),
	}
	defer func() {
		if err != nil {
			part.saver.close()
			s.Close()
			err = fmt.Errorf("open partition %d: %w", p, err)
		}
	}()
	part.urls = partition.NewOrderedReader(f.bus, messages.StreamURLs,
		messages.PartitionConsumer(messages.ConsumerURLs, messages.AnyKind, p), s.Positions()[messages.StreamURLs])
	part.results = partition.NewOrderedReader(f.bus, messages.StreamResults,
		messages.PartitionConsumer(messages.ConsumerResults, "results", p), s.Positions()[messages.StreamResults])
	if part.fetchLife, err = f.fetchLife(ctx); err != nil {
		return nil, err
	}
	if err = (catchUp{part}).begin(ctx, restored); err != nil {
		return nil, err
	}
	if err := part.saver.begin(ctx, part, restored); err != nil {
		return nil, err
	}
	part.recount()
	return part, nil
}

func (p *partitionLoop) close() {
	p.saver.close()
	p.f.requests.recount(&p.counted.Requests, 0)
	p.f.renders.recount(&p.counted.Renders, 0)
	p.state.Close()
}

// recount updates the frontier's totals of requests in flight.
func (p *partitionLoop) recount() {
	now := p.state.Requests.Taken()
	underWay.Set(float64(p.f.requests.recount(&p.counted.Requests, now.Requests)))
	p.f.renders.recount(&p.counted.Renders, now.Renders)
}

// reserve takes capacity in FETCH. recount returns the unused part.
func (p *partitionLoop) reserve() state.FetchCapacity {
	room := state.FetchCapacity{Requests: p.f.requests.reserve(), Renders: p.f.renders.reserve()}
	p.counted.Requests += room.Requests
	p.counted.Renders += room.Renders
	return room
}

// loop catches up with the streams and then takes turns until ctx is done.
func (p *partitionLoop) loop(ctx context.Context) error {
	if err := (catchUp{p}).replay(ctx); err != nil {
		return err
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		var first *partition.ReaderMessage
		urls, results := p.urls.C(), p.results.C()
		if p.state.Now() < p.batchUntil {
			urls, results = nil, nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case first = <-urls:
		case first = <-results:
		case q := <-p.queries:
			p.answer(q)
			continue
		case do := <-p.calls:
			do()
			timer.Reset(p.untilWake())
			continue
		case g := <-p.grants:
			p.state.Budgets.Apply(g)
		case sent := <-p.published:
			full := p.publishing >= maxPublishing
			p.recordSequences(sent)
			if !full {
				continue // recording a sequence can wait for the next turn's commit
			}
		case <-timer.C:
			if p.batchUntil > 0 && !p.isDue() {
				p.batchUntil = 0
				timer.Reset(p.untilWake())
				continue
			}
		}
		// On a busy machine more messages arrive while others run, and a turn costs little more for
		// more messages; on an idle one this returns at once.
		runtime.Gosched()
		if err := p.turn(ctx, first); err != nil {
			return err
		}
		p.gather()
		timer.Reset(p.untilWake())
	}
}

// gather delays incoming messages until the next turn, as long as the hosts allow. While all hosts
// wait, a result that is applied later delays no request, and a turn for many messages costs little
// more than one for each.
func (p *partitionLoop) gather() {
	p.batchUntil = 0
	now := p.state.Now()
	if p.slack = p.state.Requests.Slack(now); p.slack > 0 {
		p.batchUntil = now + p.slack
	}
}

// turn applies buffered messages, dispatches, commits, then publishes. The commit acknowledges the
// messages.
func (p *partitionLoop) turn(ctx context.Context, first *partition.ReaderMessage) error {
	began := time.Now()
	now := p.state.Now()
	if err := p.state.RunTimers(now); err != nil {
		return err
	}
	if err := p.applyBuffered(ctx, first); err != nil {
		return err
	}
	now = p.state.Now() // a result that was just applied makes its host due from then on, not before
	out, err := p.due(ctx, now)
	if err != nil {
		return err
	}
	if err := p.commitTurn(ctx, now); err != nil {
		return err
	}
	turnSeconds.Observe(time.Since(began).Seconds())
	p.recount()
	p.post(out)
	p.postSeeds()
	p.requestGrants(ctx)
	p.saver.maybeSnapshot(p)
	return nil
}

// applyBuffered applies the messages that have arrived, without waiting. Results go first: they
// free capacity.
func (p *partitionLoop) applyBuffered(ctx context.Context, first *partition.ReaderMessage) error {
	if first != nil {
		if err := p.apply(ctx, first); err != nil {
			return err
		}
	}
	for _, reader := range []*partition.OrderedReader{p.results, p.urls} {
		for more := true; more && p.applied < state.TurnBytes; {
			select {
			case m := <-reader.C():
				if more = m != nil; more {
					if err := p.apply(ctx, m); err != nil {
						return err
					}
				}
			default:
				more = false
			}
		}
	}
	return nil
}

// apply applies one message to the state. A turn ends within a batch only where a deleted crawl is
// forgotten.
func (p *partitionLoop) apply(ctx context.Context, m *partition.ReaderMessage) error {
	parts, err := m.Parts()
	if err != nil {
		p.dead = append(p.dead, stages.DeadLetter(messages.StageFrontier, &m.Message, err))
	}
	for _, part := range parts {
		if err := p.applyPart(ctx, part); err != nil {
			return err
		}
	}
	p.applied += len(m.Data)
	p.acks[m.Stream] = m
	return nil
}

// applyPart reads the time again: with the time at which the turn began, a response would seem to
// end before it did, and the next request to its host would come too soon.
func (p *partitionLoop) applyPart(ctx context.Context, m *stages.Message) error {
	waited := time.Since(m.Taken) // before now, to exclude the time between the two
	now := p.state.Now()
	if m.Stream == messages.StreamResults {
		return p.applyResult(ctx, m, waited, now)
	}
	return p.applyCandidates(ctx, m, now)
}

// applyResult applies a result that has waited for this turn: the host's delay counts from the end
// of the response.
func (p *partitionLoop) applyResult(ctx context.Context, m *stages.Message, waited time.Duration, now int64) error {
	res, err := messages.DecodeResult(m.Data)
	if err != nil {
		p.dead = append(p.dead, stages.DeadLetter(messages.StageFrontier, m, err))
		return nil
	}
	about := stages.MessageContext{Crawl: res.Crawl, URL: res.URL, Visit: res.Visit, Attempt: res.Attempt}
	p.traceApplied(m, about, tracing.Class.String(string(res.Class)))
	if p.log.Enabled(ctx, slog.LevelDebug) {
		p.log.Debug("result applied", append(about.LogAttrsIn(m.Header), "class", res.Class, "status", res.Status)...)
	}
	res.Age += messages.Millis(waited)
	if err := p.forgetDeleted(ctx, res.Crawl, res.Rev, now); err != nil {
		return err
	}
	return p.state.ApplyResult(res, now)
}

func (p *partitionLoop) applyCandidates(ctx context.Context, m *stages.Message, now int64) error {
	c, err := messages.DecodeCandidates(m.Data)
	if err == nil {
		err = checkOrigin(m, c, p.partition)
	}
	if err != nil {
		p.dead = append(p.dead, stages.DeadLetter(messages.StageFrontier, m, err))
		return nil
	}
	p.traceApplied(m, stages.MessageContext{Crawl: c.Crawl, URL: c.Referrer, Visit: c.Ends}, found.Int(len(c.URLs)))
	if err := p.forgetDeleted(ctx, c.Crawl, c.Rev, now); err != nil {
		return err
	}
	bad, err := p.state.ApplyCandidates(c, p.f.bus.Layout.Partitions, now)
	p.dead = append(p.dead, deadParts(m, bad)...)
	return err
}

// forgetDeleted removes a crawl that was deleted before a message was made, in a separate turn.
func (p *partitionLoop) forgetDeleted(ctx context.Context, crawl string, rev uint64, now int64) error {
	commit, err := p.state.Removals.Begin(crawl, rev, now)
	if err == nil && commit {
		err = p.commitTurn(ctx, now)
	}
	return err
}

// checkOrigin returns an error unless candidates arrived on the subject of their source, crawl and
// partition: the permissions of stages are by subject.
func checkOrigin(m *stages.Message, c *messages.Candidates, partition int) error {
	if want := messages.SubjectURLs(c.Source, c.Crawl, partition); m.Subject != want {
		return fmt.Errorf("source %s of crawl %s: must be published to %s, and came on %s", c.Source, c.Crawl, want, messages.Clip(m.Subject))
	}
	return nil
}

// commitTurn makes a turn durable with the positions it has reached, and then acknowledges the
// applied messages.
func (p *partitionLoop) commitTurn(ctx context.Context, now int64) error {
	// Before the commit: after it the message is not read again.
	if err := p.f.pub.Publish(ctx, p.dead...); err != nil {
		return err
	}
	p.dead = p.dead[:0]
	for stream, m := range p.acks {
		p.state.SetPosition(stream, m.Position)
	}
	if err := p.state.Commit(now); err != nil {
		return err
	}
	for _, m := range p.acks {
		m.Ack()
	}
	clear(p.acks)
	p.traced.End()
	p.applied = 0
	return nil
}

// due returns the requests to send now: new ones that are due, and lost ones.
func (p *partitionLoop) due(ctx context.Context, now int64) ([]outgoing, error) {
	if p.f.cfg.Offline || p.publishing >= maxPublishing {
		return nil, nil
	}
	reqs, err := p.state.Requests.Lost(now, func(seq uint64) (string, error) { return p.idInFetch(ctx, seq) })
	if err != nil {
		return nil, err
	}
	p.recount()
	fresh, err := p.state.Dispatcher.Next(now, p.reserve())
	p.recount()
	if err != nil {
		return nil, err
	}
	out := make([]outgoing, 0, len(reqs)+len(fresh))
	for _, req := range append(reqs, fresh...) {
		wire, err := p.state.Requests.Message(req)
		if err != nil {
			return nil, err
		}
		out = append(out, outgoing{wire: wire, made: time.Now()})
	}
	return out, nil
}

// idInFetch returns the identity of a message in FETCH, "" if it is no longer there.
func (p *partitionLoop) idInFetch(ctx context.Context, seq uint64) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	m, err := p.streams.ReadFromLeader(ctx, messages.StreamFetch, jsclient.Lookup{Seq: seq})
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return m.ID(), nil
}

// untilWake returns how long the loop may wait for a message.
func (p *partitionLoop) untilWake() time.Duration {
	now := p.state.Now()
	switch {
	case p.state.TimersPending():
		return 0
	case p.state.HasDue(now):
		return starved
	}
	next := p.state.NextDue()
	if p.slack > 0 { // one turn serves hosts that are due at almost the same time
		moment := p.slack / 10
		next = (min(next, now+p.slack) + moment - 1) / moment * moment
	}
	return time.Duration(min(max(next-now, 0), int64(time.Second)))
}

// isDue reports whether a turn without a message has work to do.
func (p *partitionLoop) isDue() bool {
	now := p.state.Now()
	return p.state.TimersPending() || p.state.HasDue(now) || p.state.NextDue() <= now
}

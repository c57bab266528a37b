package frontier

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"seine/pkg/messages"
	"seine/pkg/stages"
)

// partition runs a shard: it gives it messages and the time, and carries its
// requests to FETCH.
type partition struct {
	*shard
	f       *Frontier
	fetch   jetstream.Stream
	urls    *stages.Feed
	results *stages.Feed
	queries chan *nats.Msg

	caughtUp   uint64 // no dispatch before RESULTS is applied up to here
	outbox     chan []outgoing
	published  chan []outgoing
	publishing int // batches in the outbox
	nextLease  int64
	dead       []*nats.Msg
	counted    int // requests under way that the frontier's total includes
}

const (
	turnMessages  = 1024                  // messages applied in one turn
	maxPublishing = 4                     // batches of requests on their way to FETCH
	starved       = 10 * time.Millisecond // wait for room in FETCH or in the outbox
)

// own runs partition p until ctx is done.
func (f *Frontier) own(ctx context.Context, p int, epoch uint64) error {
	if err := f.bind(ctx, p); err != nil {
		return err
	}
	part, err := f.open(ctx, p, epoch)
	if err != nil {
		return err
	}
	defer part.close()
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() error { return part.urls.Run(gctx) })
	g.Go(func() error { return part.results.Run(gctx) })
	g.Go(func() error { return part.publish(gctx) })
	g.Go(func() error {
		if err := part.listen(gctx); err != nil {
			return err
		}
		return part.loop(gctx)
	})
	err = g.Wait()
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

func (f *Frontier) open(ctx context.Context, p int, epoch uint64) (*partition, error) {
	rules := func(crawl string, rev uint64) (*rules, error) { return f.rules(ctx, crawl, rev) }
	s, err := openShard(f.store, p, epoch, rules, &f.budgets, f.log.With("partition", p))
	if err != nil {
		return nil, fmt.Errorf("open partition %d: %w", p, err)
	}
	part := &partition{
		shard: s, f: f, queries: make(chan *nats.Msg, 64),
		outbox: make(chan []outgoing, maxPublishing), published: make(chan []outgoing, maxPublishing),
	}
	part.urls = stages.NewFeed(f.bus, messages.StreamURLs,
		messages.PartitionConsumer(messages.ConsumerURLs, "urls", p), s.positions[messages.StreamURLs])
	part.results = stages.NewFeed(f.bus, messages.StreamResults,
		messages.PartitionConsumer(messages.ConsumerResults, "results", p), s.positions[messages.StreamResults])
	if part.fetch, err = f.bus.JS.Stream(ctx, messages.StreamFetch); err == nil {
		part.caughtUp, err = lastSequence(ctx, f.bus.JS, messages.StreamResults, fmt.Sprintf("seine.results.*.%d", p))
	}
	if err != nil {
		s.close()
		return nil, fmt.Errorf("open partition %d: %w", p, err)
	}
	part.recount()
	return part, nil
}

// lastSequence is that of the last message stored for a subject, 0 if none is.
func lastSequence(ctx context.Context, js jetstream.JetStream, stream, subject string) (uint64, error) {
	s, err := js.Stream(ctx, stream)
	if err != nil {
		return 0, fmt.Errorf("open stream %s: %w", stream, err)
	}
	m, err := s.GetLastMsgForSubject(ctx, subject)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("look at stream %s: %w", stream, err)
	}
	return m.Sequence, nil
}

func (p *partition) close() {
	p.f.outstanding.Add(int64(-p.counted))
	p.shard.close()
}

// recount keeps the frontier's total of requests under way.
func (p *partition) recount() {
	total := p.f.outstanding.Add(int64(len(p.inFlight) - p.counted))
	p.counted = len(p.inFlight)
	underWay.Set(float64(total))
}

// listen answers questions about the partition.
func (p *partition) listen(ctx context.Context) error {
	for _, op := range []string{opStatus, opHosts, opExplain, messages.OpWanted} {
		sub, err := p.f.bus.NC.ChanSubscribe(messages.SubjectFrontier(op, p.partition), p.queries)
		if err != nil {
			return fmt.Errorf("listen for questions: %w", err)
		}
		context.AfterFunc(ctx, func() { _ = sub.Unsubscribe() })
	}
	return nil
}

// loop takes turns until ctx is done.
func (p *partition) loop(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	recovered := false
	for {
		var urls, results []*stages.FeedMessage
		select {
		case <-ctx.Done():
			return ctx.Err()
		case m, ok := <-p.urls.C():
			if ok {
				urls = append(urls, m)
			}
		case m, ok := <-p.results.C():
			if ok {
				results = append(results, m)
			}
		case q := <-p.queries:
			p.answer(q)
			continue
		case sent := <-p.published:
			full := p.publishing >= maxPublishing
			p.note(sent)
			if !full {
				continue // where a request is can wait for the next turn's commit
			}
		case <-timer.C:
		}
		// On a busy machine more arrives while others run, and a turn costs little
		// more for more messages; on an idle one this returns at once.
		runtime.Gosched()
		urls = gather(p.urls.C(), urls)
		results = gather(p.results.C(), results)
		if !recovered && p.positions[messages.StreamResults].Sequence >= p.caughtUp && len(results) == 0 {
			recovered = true
			p.recover()
		}
		if err := p.turn(ctx, urls, results, recovered); err != nil {
			return err
		}
		timer.Reset(p.untilWake(recovered))
	}
}

// gather takes what else has arrived, without waiting.
func gather(c <-chan *stages.FeedMessage, ms []*stages.FeedMessage) []*stages.FeedMessage {
	for len(ms) < turnMessages {
		select {
		case m, ok := <-c:
			if !ok {
				return ms
			}
			ms = append(ms, m)
		default:
			return ms
		}
	}
	return ms
}

// turn applies, dispatches, commits; then it publishes, then it acknowledges.
func (p *partition) turn(ctx context.Context, urls, results []*stages.FeedMessage, dispatch bool) error {
	began := time.Now()
	now := began.UnixNano()
	if err := p.apply(urls, results, now); err != nil {
		return err
	}
	var out []outgoing
	if dispatch {
		var err error
		if out, err = p.due(ctx, now); err != nil {
			return err
		}
	}
	// Before the commit: after it nobody would read the message again.
	if err := stages.PublishDead(ctx, p.f.pub, p.dead...); err != nil {
		return err
	}
	p.dead = p.dead[:0]
	if err := p.commit(); err != nil {
		return err
	}
	turnSeconds.Observe(time.Since(began).Seconds())
	p.recount()
	p.post(out)
	for _, ms := range [][]*stages.FeedMessage{urls, results} {
		if n := len(ms); n > 0 {
			ms[n-1].Ack()
		}
	}
	return nil
}

// apply brings messages into the shard. Results go first: they make room.
func (p *partition) apply(urls, results []*stages.FeedMessage, now int64) error {
	for _, m := range results {
		res, err := messages.DecodeResult(m.Data)
		if err != nil {
			p.dead = append(p.dead, stages.DeadLetter(messages.StageFrontier, &m.Message, err))
			continue
		}
		if err := p.result(res, now); err != nil {
			return err
		}
	}
	for _, m := range urls {
		c, err := messages.DecodeCandidates(m.Data)
		if err != nil {
			p.dead = append(p.dead, stages.DeadLetter(messages.StageFrontier, &m.Message, err))
			continue
		}
		bad, err := p.candidates(c, p.f.bus.Layout.Partitions, now)
		if err != nil {
			return err
		}
		for i, b := range bad {
			p.dead = append(p.dead, deadPart(&m.Message, i+1, b.url, b.err))
		}
	}
	if n := len(results); n > 0 {
		if err := p.reach(messages.StreamResults, results[n-1].Position); err != nil {
			return err
		}
	}
	if n := len(urls); n > 0 {
		return p.reach(messages.StreamURLs, urls[n-1].Position)
	}
	return nil
}

// due collects the requests to send now: those that are due for the first
// time, and those that got lost.
func (p *partition) due(ctx context.Context, now int64) ([]outgoing, error) {
	if err := p.retries(now); err != nil {
		return nil, err
	}
	if p.publishing >= maxPublishing {
		return nil, nil
	}
	reqs, err := p.expired(ctx, now)
	if err != nil {
		return nil, err
	}
	p.recount()
	fresh, err := p.dispatch(now, p.f.room())
	if err != nil {
		return nil, err
	}
	if len(fresh) > 0 {
		p.nextLease = min(p.nextLease, now+leaseTime)
	}
	out := make([]outgoing, 0, len(reqs)+len(fresh))
	for _, req := range append(reqs, fresh...) {
		wire, err := p.message(req)
		if err != nil {
			return nil, err
		}
		out = append(out, outgoing{id: req.id, wire: wire})
	}
	return out, nil
}

// untilWake is how long the loop may wait for a message.
func (p *partition) untilWake(dispatching bool) time.Duration {
	if !dispatching {
		return time.Second
	}
	now := time.Now().UnixNano()
	switch {
	case p.parked:
		return time.Second / 4
	case len(p.ready) > 0 || p.nextDue <= now:
		return starved
	}
	t := min(p.nextDue, p.nextRetry, p.nextLease)
	return time.Duration(min(max(t-now, 0), int64(time.Second)))
}

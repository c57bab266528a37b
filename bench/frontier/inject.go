package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/nats-io/nats.go"
	"golang.org/x/sync/errgroup"

	"seine/internal/base/sleep"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// Publishers work side by side, so that one makes pages while another waits for acknowledgements.
const (
	publishers   = 3
	publishBatch = 256 // messages that each has on their way at a time
)

// published counts candidates that JetStream has acknowledged, and those of them that the frontier had applied lately.
type published struct{ fresh, repeats, applied atomic.Int64 }

func (p *published) total() int64 { return p.fresh.Load() + p.repeats.Load() }

// hold waits while the frontier is more than so many candidates behind. If publishing ran ahead to the limit of the
// stream, the frontier would have the machine to itself afterwards, and its rate at the end would be too good.
func (p *published) hold(ctx context.Context, ahead int64) error {
	for ahead > 0 && p.total()-p.applied.Load() > ahead {
		if err := sleep.For(ctx, lookEvery/10); err != nil {
			return err
		}
	}
	return nil
}

// inject publishes all pages, as fast as the stream takes them, and prints how the frontier does.
func (m *testbed) inject(ctx context.Context, w *web) error {
	g, gctx := errgroup.WithContext(ctx)
	var next atomic.Int64 // page
	var pub published
	for range publishers {
		g.Go(func() error { return m.publish(gctx, w, &next, &pub) })
	}
	g.Go(func() error { return m.watch(gctx, g, &pub) })
	if err := g.Wait(); err != nil {
		return err
	}
	return m.checkQueued(ctx, &pub)
}

// publish publishes pages until there are no more.
func (m *testbed) publish(ctx context.Context, w *web, next *atomic.Int64, count *published) error {
	pub := stages.NewPublisher(m.bus, "bench")
	p := &pageMaker{web: w, rev: m.rev, keepLinks: m.KeepLinks, byPartition: make([][]messages.Candidate, m.Partitions)}
	for done := false; !done; {
		p.msgs, p.fresh, p.repeats = p.msgs[:0], 0, 0
		for len(p.msgs) < publishBatch && !done {
			k := int(next.Add(1) - 1)
			if done = k >= w.pages; !done {
				p.add(k)
			}
		}
		if err := count.hold(ctx, int64(m.Ahead)); err != nil {
			return err
		}
		if err := pub.Publish(ctx, p.msgs...); err != nil {
			return fmt.Errorf("publish candidates: %w", err)
		}
		count.fresh.Add(p.fresh)
		count.repeats.Add(p.repeats)
	}
	return nil
}

// pageMaker makes messages of pages.
type pageMaker struct {
	*web
	rev            uint64
	keepLinks      bool
	links          []int
	byPartition    [][]messages.Candidate
	msgs           []*nats.Msg
	fresh, repeats int64
}

// add makes the messages of page k as the parser does: one for each partition that it links to.
func (p *pageMaker) add(k int) {
	p.links = p.web.links(k, p.links[:0])
	for _, i := range p.links {
		to := p.partition[p.hostOf(i)]
		p.byPartition[to] = append(p.byPartition[to], messages.Candidate{URL: p.url(i)})
	}
	fresh := min(p.web.fresh, p.urls-k*p.web.fresh)
	p.fresh += int64(fresh)
	p.repeats += int64(len(p.links) - fresh)
	c := messages.Candidates{
		Crawl: crawl, Rev: p.rev, Source: messages.SourceLink, Referrer: p.referrer(k), Depth: p.depth(k),
	}
	if p.keepLinks {
		c.PageRound, c.PageDepth = 1, max(c.Depth-1, 0)
	}
	for to, urls := range p.byPartition {
		if len(urls) == 0 {
			continue
		}
		c.URLs = urls
		p.msgs = append(p.msgs, &nats.Msg{Subject: messages.SubjectURLs(c.Source, crawl, to), Data: c.Encode()})
		p.byPartition[to] = urls[:0]
	}
}

// referrer is the URL of page k itself: one of its host's that was found before, or else its root.
func (p *pageMaker) referrer(k int) string {
	if n := int(p.nth[k]); n > 0 && p.own > 0 {
		return p.url(int(p.byHost[int(p.start[p.host[k]])+n-1])*p.web.fresh + n%p.own)
	}
	return hostURL(int(p.host[k]))
}

// checkQueued fails unless every new URL was queued, once, and everything else was known.
func (m *testbed) checkQueued(ctx context.Context, pub *published) error {
	c, err := m.counts(ctx)
	if err != nil {
		return err
	}
	switch {
	case c.excluded > 0:
		return fmt.Errorf("%d URLs were excluded: the crawl's own rules stop the simulated web", c.excluded)
	case c.queued > pub.fresh.Load():
		return fmt.Errorf("%d URLs were queued, %d went in: some were taken twice", c.queued, pub.fresh.Load())
	case c.queued != pub.fresh.Load() || c.known != pub.repeats.Load():
		return fmt.Errorf("%d new and %d known URLs went in, %d and %d were found so", pub.fresh.Load(), pub.repeats.Load(), c.queued, c.known)
	}
	return m.checkDead(ctx)
}

// checkDead fails if something could not be handled.
func (m *testbed) checkDead(ctx context.Context) error {
	s, err := m.bus.JS.Stream(ctx, messages.StreamDead)
	if err != nil {
		return fmt.Errorf("inspect stream %s: %w", messages.StreamDead, err)
	}
	if st := s.CachedInfo().State; st.Msgs > 0 {
		text := ""
		if first, err := s.GetMsg(ctx, st.FirstSeq); err == nil {
			text = fmt.Sprintf("; the first: %v", first.Header)
		}
		return errors.New(fmt.Sprint(st.Msgs, " messages could not be handled", text))
	}
	return nil
}

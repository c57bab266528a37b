package main

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"seine/bench/proc"
	"seine/internal/base/sleep"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/frontier/frontierapi"
)

// open feeds one URL of each host as a seed. Every other URL that was found there was excluded, since no seed had opened
// its host, and is admitted now. It prints how long that takes and what it costs.
func (m *testbed) open(ctx context.Context, w *web) error {
	var seeds []*nats.Msg
	for h := range m.Hosts {
		if w.start[h] == w.start[h+1] {
			continue // it has no page
		}
		c := messages.Candidates{Crawl: crawl, Rev: m.rev, Source: messages.SourceSeed}
		c.URLs = []messages.Candidate{{URL: w.url(int(w.byHost[w.start[h]]) * w.fresh)}}
		seeds = append(seeds, &nats.Msg{Subject: messages.SubjectURLs(c.Source, crawl, int(w.partition[h])), Data: c.Encode()})
	}
	began := time.Now()
	if err := stages.NewPublisher(m.bus, "bench").Publish(ctx, seeds...); err != nil {
		return fmt.Errorf("publish seeds: %w", err)
	}
	most, before, moved := int64(0), int64(-1), time.Now()
	for sleep.For(ctx, lookEvery) == nil {
		used, err := m.costs()
		if err != nil {
			return err
		}
		most = max(most, used.rss)
		c, err := frontierapi.Client{Bus: m.bus}.Status(ctx, crawl)
		if err != nil {
			return fmt.Errorf("ask how the crawl stands: %w", err)
		}
		admitted := c.Known() - c.Excluded[frontierapi.ReasonScope]
		switch {
		case c.Known() != int64(m.URLs) || c.Pending() > int64(m.URLs):
			return fmt.Errorf("%d URLs are known and %d are open, of %d that went in", c.Known(), c.Pending(), m.URLs)
		case admitted == int64(m.URLs):
			took := time.Since(began)
			fmt.Printf("\n%d URLs of %d hosts were admitted in %s, %.0f a second; RSS %.0f MB at most\n",
				admitted, len(seeds), took.Round(time.Millisecond), float64(admitted)/took.Seconds(), proc.MB(most))
			return m.checkRSS(most)
		case admitted != before:
			before, moved = admitted, time.Now()
		case time.Since(moved) > stalled:
			return fmt.Errorf("%w: %d of %d URLs were admitted", errStalled, admitted, m.URLs)
		}
	}
	return ctx.Err()
}

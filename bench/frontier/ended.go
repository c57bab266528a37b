package main

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"seine/bench/proc"
	"seine/internal/base/sleep"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// A crawl that has ended is let go of after a minute; settled is when the process has
// given its memory back, too.
const settled = 100 * time.Second

// endedCrawls measures what crawls that have ended cost: the memory of the frontier,
// and how long it takes to start, without any and with so many, in every partition.
func (m *testbed) endedCrawls(ctx context.Context) error {
	fmt.Printf("%d crawls that have ended, %d partitions\n\n| crawls | start s | RSS MB | peak MB | state MB |\n|---:|---:|---:|---:|---:|\n", m.Crawls, m.Partitions)
	if err := m.restart(ctx, "none"); err != nil {
		return err
	}
	began := time.Now()
	if err := m.endMany(ctx); err != nil {
		return err
	}
	fed := time.Since(began)
	if err := m.report(ctx, fmt.Sprintf("%d, just ended", m.Crawls), "", settled); err != nil {
		return err
	}
	if err := m.restart(ctx, fmt.Sprintf("%d", m.Crawls)); err != nil {
		return err
	}
	fmt.Printf("\nthey were fed and ended in %s\n", fed.Round(time.Second))
	return m.checkDead(ctx)
}

// restart ends the frontier, starts it again, and reports how long that takes until
// every partition answers.
func (m *testbed) restart(ctx context.Context, what string) error {
	m.frontier.Stop(true)
	began := time.Now()
	if err := m.startFrontier(); err != nil {
		return err
	}
	serving, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	if err := m.served(serving); err != nil {
		return err
	}
	return m.report(ctx, what, fmt.Sprintf("%.2f", time.Since(began).Seconds()), settled)
}

// report prints a line of the table after some time.
func (m *testbed) report(ctx context.Context, what, start string, after time.Duration) error {
	if err := sleep.For(ctx, after); err != nil {
		return err
	}
	used, err := m.costs()
	if err != nil {
		return err
	}
	fmt.Printf("| %s | %s | %.0f | %.0f | %.0f |\n", what, start, proc.MB(used.rss), proc.MB(used.peak), proc.MB(used.state))
	return m.checkRSS(used.rss)
}

// endMany begins crawls that are cancelled, with a URL in each partition, which is
// excluded at once, and waits until all have ended.
func (m *testbed) endMany(ctx context.Context) error {
	specs, err := stages.OpenSpecs(ctx, m.bus)
	if err != nil {
		return fmt.Errorf("open specs: %w", err)
	}
	spec := theSpec()
	spec.State = crawlspec.Cancelled
	urls, pub := m.urlOfEach(), stages.NewPublisher(m.bus, "bench")
	var msgs []*nats.Msg
	for i := range m.Crawls {
		name := fmt.Sprintf("ended-%06d", i)
		rev, err := specs.Put(ctx, name, &spec)
		if err != nil {
			return fmt.Errorf("store spec: %w", err)
		}
		for p, url := range urls {
			c := messages.Candidates{Crawl: name, Rev: rev, Source: messages.SourceSeed, URLs: []messages.Candidate{{URL: url}}}
			msgs = append(msgs, &nats.Msg{Subject: messages.SubjectURLs(c.Source, name, p), Data: c.Encode()})
		}
		if len(msgs) >= publishBatch || i == m.Crawls-1 {
			if err := pub.Publish(ctx, msgs...); err != nil {
				return fmt.Errorf("publish candidates: %w", err)
			}
			msgs = msgs[:0]
		}
	}
	want, before, moved := int64(m.Crawls)*int64(m.Partitions), int64(-1), time.Now()
	for {
		c, err := m.counts(ctx)
		switch {
		case err != nil:
			return err
		case c.excluded == want:
			return nil
		case c.excluded != before:
			before, moved = c.excluded, time.Now()
		case time.Since(moved) > stalled:
			return fmt.Errorf("%w: %d of %d URLs were excluded", errStalled, c.excluded, want)
		}
		if err := sleep.For(ctx, lookEvery); err != nil {
			return err
		}
	}
}

// urlOfEach returns a URL of each partition.
func (m *testbed) urlOfEach() []string {
	urls := make([]string, m.Partitions)
	for i, left := 0, m.Partitions; left > 0; i++ {
		url := fmt.Sprintf("https://h%d.test/", i)
		if p := messages.Partition(url, m.Partitions); urls[p] == "" {
			urls[p] = url
			left--
		}
	}
	return urls
}

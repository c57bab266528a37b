package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/frontier"
)

// drained keeps which URLs have come out.
type drained struct {
	mu    sync.Mutex
	seen  []uint64
	count int
}

func (d *drained) take(i int) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.seen[i/64]&(1<<(i%64)) != 0 {
		return fmt.Errorf("URL %d came out twice", i)
	}
	d.seen[i/64] |= 1 << (i % 64)
	d.count++
	return nil
}

func (d *drained) total() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.count
}

// drain answers every request at once, as fetchers and parsers would, until the
// frontier says that the crawl is complete.
func (m *machine) drain(ctx context.Context) error {
	consumer, err := m.bus.JS.CreateOrUpdateConsumer(ctx, messages.StreamFetch,
		messages.WorkConsumer(messages.ConsumerFetch, "seine.fetch.*.*", 4*m.fetchBacklog))
	if err != nil {
		return fmt.Errorf("create consumer: %w", err)
	}
	began := time.Now()
	d := &drained{seen: make([]uint64, m.urls/64+1)}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	g, gctx := errgroup.WithContext(ctx)
	for range 2 {
		g.Go(func() error { return m.fetch(gctx, consumer, d) })
	}
	g.Go(func() error {
		defer stop()
		return m.complete(gctx, d)
	})
	if err := g.Wait(); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	if d.total() != m.urls {
		return fmt.Errorf("%d URLs came out, %d went in", d.total(), m.urls)
	}
	f, err := m.measure()
	if err != nil {
		return err
	}
	fmt.Printf("\nevery URL came out exactly once: %d in %s, %.0f a second; RSS %d MB, peak %d MB\n", d.total(),
		time.Since(began).Round(time.Second), float64(d.total())/time.Since(began).Seconds(), f.rss/1024, f.peak/1024)
	return nil
}

// complete waits for the end of the crawl.
func (m *machine) complete(ctx context.Context, d *drained) error {
	client, spec := frontier.Client{Bus: m.bus}, messages.DefaultSpec()
	for tick := 0; stages.Sleep(ctx, time.Second) == nil; tick++ {
		if tick%60 == 59 {
			fmt.Printf("%d out\n", d.total())
		}
		end, n, err := client.Ended(ctx, crawlName, &spec)
		if err == nil && end == frontier.Complete {
			if n.Done != int64(m.urls) {
				return fmt.Errorf("the frontier counts %d done of %d", n.Done, m.urls)
			}
			return nil
		}
	}
	return ctx.Err()
}

// fetch answers requests in batches.
func (m *machine) fetch(ctx context.Context, consumer jetstream.Consumer, d *drained) error {
	pub := stages.NewPublisher(m.bus, "bench")
	for ctx.Err() == nil {
		batch, err := consumer.Fetch(512, jetstream.FetchMaxWait(time.Second))
		if err != nil {
			return fmt.Errorf("fetch requests: %w", err)
		}
		var done []jetstream.Msg
		var out []*nats.Msg
		for msg := range batch.Messages() {
			answer, err := m.answer(msg, d)
			if err != nil {
				return err
			}
			out, done = append(out, answer...), append(done, msg)
		}
		if err := pub.Publish(ctx, out...); err != nil {
			return err
		}
		for _, msg := range done {
			if err := msg.Ack(); err != nil {
				return fmt.Errorf("acknowledge: %w", err)
			}
		}
	}
	return nil
}

// answer takes note of a request, and returns its result and the end of its
// visit.
func (m *machine) answer(msg jetstream.Msg, d *drained) ([]*nats.Msg, error) {
	req, err := messages.DecodeRequest(msg.Data())
	if err != nil {
		return nil, err
	}
	_, name, _ := strings.Cut(req.URL, "/page-")
	i, err := strconv.Atoi(strings.TrimSuffix(name, ".html"))
	if err != nil || i >= m.urls {
		return nil, fmt.Errorf("%s is no URL that went in", req.URL)
	}
	if err := d.take(i); err != nil {
		return nil, err
	}
	p := messages.Partition(req.URL, m.partitions)
	res := messages.Result{
		Crawl: req.Crawl, Rev: req.Rev, URL: req.URL, Visit: req.Visit, Attempt: req.Attempt, Class: messages.OK,
		Status: 200, Started: time.Now(), Timings: messages.Timings{Total: messages.Millis(5 * time.Millisecond)},
	}
	result := nats.NewMsg(messages.SubjectResults(req.Crawl, p))
	result.Header.Set(nats.MsgIdHdr, res.ID())
	result.Data = res.Encode()
	end := messages.Candidates{Crawl: req.Crawl, Source: messages.SourceLink, Referrer: req.URL, Depth: req.Depth + 1, Ends: req.Visit}
	return []*nats.Msg{result, {Subject: messages.SubjectURLs(req.Crawl, p), Data: end.Encode()}}, nil
}

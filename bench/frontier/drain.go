package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"seine/bench/proc"
	"seine/internal/base/sleep"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/frontier/frontierapi"
)

// Workers stand for fetchers and parsers: they answer requests in batches, as many as have come.
const (
	workers     = 6
	answerBatch = 256
)

// drain answers every request at once, until the frontier says that the crawl is complete, and checks that each URL
// came out exactly once.
func (m *testbed) drain(ctx context.Context, w *web) error {
	fetch, err := m.bus.JS.CreateOrUpdateConsumer(ctx, messages.StreamFetch,
		messages.WorkConsumer(messages.ConsumerFetch, "seine.fetch.*.*", 4*m.FetchMessages))
	if err != nil {
		return fmt.Errorf("create consumer: %w", err)
	}
	d := &drainCheck{testbed: m, web: w, out: make([]uint64, w.urls/64+1), requests: make(chan jetstream.Msg, workers*answerBatch)}
	working, stop := context.WithCancel(ctx)
	defer stop()
	g, working := errgroup.WithContext(working)
	consuming, err := fetch.Consume(func(msg jetstream.Msg) {
		select {
		case d.requests <- msg:
		case <-working.Done():
		}
	}, jetstream.PullMaxMessages(workers*answerBatch))
	if err != nil {
		return fmt.Errorf("consume requests: %w", err)
	}
	defer consuming.Stop()
	for range workers {
		g.Go(func() error { return d.work(working) })
	}
	complete := false
	g.Go(func() (err error) {
		defer stop() // the workers, who may be in the middle of something
		complete, err = d.watch(working)
		return err
	})
	if err := g.Wait(); !complete {
		return err
	}
	return d.report(ctx)
}

// drainCheck is what has come out.
type drainCheck struct {
	*testbed
	web      *web
	requests chan jetstream.Msg

	mu    sync.Mutex
	out   []uint64 // a bit for each URL
	count int
	again int           // requests that JetStream delivered once more
	took  time.Duration // until the crawl was complete
}

// recordURL notes that URL i has come out.
func (d *drainCheck) recordURL(i int, req *messages.Request, delivered uint64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch known := d.out[i/64]&(1<<(i%64)) != 0; {
	case req.Attempt != 1 || req.Visit.Round != 1:
		return fmt.Errorf("%s came out as visit %s, attempt %d, though its first request was answered", req.URL, req.Visit, req.Attempt)
	case known && delivered > 1:
		d.again++ // by the broker, which is slow; the frontier sent it once
		return nil
	case known:
		return fmt.Errorf("%s came out twice", req.URL)
	}
	d.out[i/64] |= 1 << (i % 64)
	d.count++
	return nil
}

func (d *drainCheck) total() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.count
}

// work answers requests until ctx is done: the answers are stored before the requests are acknowledged.
func (d *drainCheck) work(ctx context.Context) error {
	pub := stages.NewPublisher(d.bus, "bench")
	var reqs []jetstream.Msg
	var answers []*nats.Msg
	for {
		reqs, answers = d.gather(ctx, reqs[:0]), answers[:0]
		if len(reqs) == 0 {
			return nil
		}
		for _, msg := range reqs {
			a, err := d.answer(msg)
			if err != nil {
				return err
			}
			answers = append(answers, a...)
		}
		if err := pub.Publish(ctx, answers...); err != nil {
			return fmt.Errorf("publish answers: %w", err)
		}
		for _, msg := range reqs {
			if err := msg.Ack(); err != nil {
				return fmt.Errorf("acknowledge: %w", err)
			}
		}
	}
}

// gather waits for a request and takes what has come with it; none when ctx is done.
func (d *drainCheck) gather(ctx context.Context, reqs []jetstream.Msg) []jetstream.Msg {
	select {
	case <-ctx.Done():
		return nil
	case msg := <-d.requests:
		reqs = append(reqs, msg)
	}
	for len(reqs) < answerBatch {
		select {
		case msg := <-d.requests:
			reqs = append(reqs, msg)
		default:
			return reqs
		}
	}
	return reqs
}

// answer takes note of a request, and returns its result and the end of its visit: a page without links.
func (d *drainCheck) answer(msg jetstream.Msg) ([]*nats.Msg, error) {
	req, err := messages.DecodeRequest(msg.Data())
	if err != nil {
		return nil, fmt.Errorf("read request: %w", err)
	}
	i, err := d.web.indexOf(req.URL)
	if err != nil {
		return nil, err
	}
	md, err := msg.Metadata()
	if err != nil {
		return nil, fmt.Errorf("read request: %w", err)
	}
	if err := d.recordURL(i, req, md.NumDelivered); err != nil {
		return nil, err
	}
	p := int(d.web.partition[d.web.hostOf(i)])
	res := messages.Result{
		Crawl: req.Crawl, Rev: req.Rev, URL: req.URL, Visit: req.Visit, Attempt: req.Attempt, Class: messages.OK, Status: 200,
		Started: time.Now(), Timings: messages.Timings{Total: messages.Millis(50 * time.Millisecond)},
		ContentType: "text/html", BytesWire: 8 << 10, BytesBody: 32 << 10,
	}
	result := nats.NewMsg(messages.SubjectResults(req.Crawl, p))
	result.Header.Set(nats.MsgIdHdr, res.ID())
	result.Data = res.Encode()
	end := messages.Candidates{
		Crawl: req.Crawl, Rev: req.Rev, Source: messages.SourceLink, Referrer: req.URL, Depth: req.Depth + 1,
		Ends: req.Visit, Content: uint64(i) + 1, // no two pages are the same
	}
	return []*nats.Msg{result, {Subject: messages.SubjectURLs(messages.SourceLink, req.Crawl, p), Data: end.Encode()}}, nil
}

// watch prints how it goes until the crawl is complete, and then checks that it is.
func (d *drainCheck) watch(ctx context.Context) (complete bool, err error) {
	used, err := d.costs()
	if err != nil {
		return false, err
	}
	began, step := used.at, max(1, int(d.Report*1e6))
	fmt.Println("\n| out | requests/s | RSS MB | peak MB | state MB | nats disk MB | nats RSS MB | CPU s frontier | nats | bench | other cores |")
	fmt.Println("|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
	before, seen, moved := 0, 0, began
	for sleep.For(ctx, lookEvery) == nil {
		switch n := d.total(); {
		case n >= d.URLs || n-before >= step:
			used = d.line(n, n-before, used)
			if before = n; n >= d.URLs {
				return d.ended(ctx, began)
			}
		case n != seen:
			seen, moved = n, time.Now()
		case time.Since(moved) > stalled:
			return false, fmt.Errorf("%w: %s", errStalled, d.missing())
		}
	}
	return false, ctx.Err()
}

// line prints a step of n requests.
func (d *drainCheck) line(total, n int, before costs) costs {
	now, err := d.costs()
	if err != nil {
		return before
	}
	fmt.Printf("| %.2f M | %.0f | %.0f | %.0f | %.0f | %.0f | %.0f | %.1f | %.1f | %.1f | %.1f |\n", float64(total)/1e6,
		float64(n)/now.at.Sub(before.at).Seconds(), proc.MB(now.rss), proc.MB(now.peak), proc.MB(now.state), proc.MB(now.nats), proc.MB(now.natsRSS),
		now.frontierCPU-before.frontierCPU, now.natsCPU-before.natsCPU, now.ownCPU-before.ownCPU, now.others(before))
	return now
}

// endTime is how long the frontier may take to say that the crawl is complete, once everything has come out and was
// answered.
const endTime = time.Minute

// ended waits until the frontier says that the crawl is complete, and compares its books with ours.
func (d *drainCheck) ended(ctx context.Context, began time.Time) (bool, error) {
	client, spec := frontierapi.Client{Bus: d.bus}, theSpec()
	for until := time.Now().Add(endTime); ; {
		end, n, err := client.CheckEnded(ctx, crawl, &spec)
		switch {
		case err == nil && end == frontierapi.Complete && n.Known() == int64(d.URLs) && n.Done == int64(d.URLs):
			d.took = time.Since(began)
			return true, nil
		case err == nil && end == frontierapi.Complete:
			return false, fmt.Errorf("the frontier knows %d URLs and has done %d, of %d", n.Known(), n.Done, d.URLs)
		case time.Now().After(until):
			return false, errors.Join(err, fmt.Errorf("all URLs came out, but the crawl is not complete: %+v", n.Counters))
		}
		if err := sleep.For(ctx, time.Second); err != nil {
			return false, fmt.Errorf("wait for the end: %w", err)
		}
	}
}

func (d *drainCheck) report(ctx context.Context) error {
	if err := d.checkDead(ctx); err != nil {
		return err
	}
	used, err := d.costs()
	if err != nil {
		return err
	}
	fmt.Printf("\nEvery URL came out exactly once, and the crawl is complete: %d in %s, %.0f requests/s", d.count,
		d.took.Round(time.Second), float64(d.count)/d.took.Seconds())
	if d.again > 0 {
		fmt.Printf("; JetStream delivered %d of them again", d.again)
	}
	fmt.Println()
	return d.checkRSS(used.rss)
}

// missing names some URLs that have not come out.
func (d *drainCheck) missing() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var some []string
	for i := 0; i < d.URLs && len(some) < 3; i++ {
		if d.out[i/64]&(1<<(i%64)) == 0 {
			some = append(some, d.web.url(i))
		}
	}
	return fmt.Sprintf("%d URLs did not come out, such as %v", d.URLs-d.count, some)
}

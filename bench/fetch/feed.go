package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"seine/internal/base/sleep"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// Feeders work side by side, so that one makes requests while another waits for acknowledgements.
const (
	feeders   = 3
	feedBatch = 512
)

// feed publishes n more requests, as a frontier does.
func (r *testbed) feed(ctx context.Context, n int) error {
	g, ctx := errgroup.WithContext(ctx)
	pub := stages.NewPublisher(r.bus, "bench")
	batches := make(chan int)
	g.Go(func() error {
		defer close(batches)
		for i := r.fed; i < r.fed+n; i += feedBatch {
			select {
			case batches <- i:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		return nil
	})
	end := r.fed + n
	for range feeders {
		g.Go(func() error {
			for from := range batches {
				if err := pub.Publish(ctx, r.requests(from, min(from+feedBatch, end))...); err != nil {
					return fmt.Errorf("publish requests: %w", err)
				}
			}
			return nil
		})
	}
	err := g.Wait()
	r.fed = end
	return err
}

// requests are those for the URLs from one to another.
func (r *testbed) requests(from, to int) (msgs []*nats.Msg) {
	for i := from; i < to; i++ {
		req := messages.Request{Crawl: crawl, Rev: r.rev, URL: r.web.url(i), Attempt: 1, Depth: 1, Epoch: 1}
		req.Visit = messages.Visit{URL: messages.HashURL(req.URL), Round: 1}
		m := nats.NewMsg(messages.SubjectFetch(crawl, messages.Partition(req.URL, r.bus.Layout.Partitions)))
		m.Header.Set(nats.MsgIdHdr, req.ID())
		m.Data = req.Encode()
		msgs = append(msgs, m)
	}
	return msgs
}

// left is how many requests are in FETCH.
func (r *testbed) left(ctx context.Context) (uint64, error) {
	s, err := r.bus.JS.Stream(ctx, messages.StreamFetch)
	if err != nil {
		return 0, fmt.Errorf("look at the requests: %w", err)
	}
	return s.CachedInfo().State.Msgs, nil
}

// checkFed fails if there were not always requests to do.
func (r *testbed) checkFed(ctx context.Context) error {
	n, err := r.left(ctx)
	if err == nil && n < uint64(2*len(r.fetchers)*r.Workers) {
		err = fmt.Errorf("only %d requests are left: too few were published for this rate", n)
	}
	return err
}

// await waits until every request has its result.
func (r *testbed) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	for {
		left, err := r.left(ctx)
		if err != nil || left == 0 {
			return err
		}
		if err := sleep.For(ctx, 20*time.Millisecond); err != nil {
			return fmt.Errorf("%d of %d requests have no result: %w", left, r.fed, err)
		}
	}
}

// check fails unless each request that is no longer in FETCH has exactly one result, a page, and was seen by the web
// exactly once. The fetchers must be drained.
func (r *testbed) check(ctx context.Context) error {
	left, err := r.left(ctx)
	if err != nil {
		return err
	}
	pages, err := r.stored(ctx, messages.StreamPages)
	if err != nil {
		return err
	}
	now, err := r.web.seen()
	if err != nil {
		return err
	}
	results, err := r.readResults(ctx)
	if err != nil {
		return err
	}
	done, requests, stored := r.fed-int(left), int(now.Requests-r.seenWeb), int(pages)
	if done != results || done != requests || done != stored {
		return fmt.Errorf("%d requests are done: they have %d results and %d pages, and the web has seen %d", done, results, stored, requests)
	}
	return nil
}

// readResults reads all results, and fails unless each is of another request and is well.
func (r *testbed) readResults(ctx context.Context) (n int, err error) {
	last, err := r.stored(ctx, messages.StreamResults)
	if err != nil {
		return 0, err
	}
	consumer, err := r.bus.JS.OrderedConsumer(ctx, messages.StreamResults, jetstream.OrderedConsumerConfig{})
	if err != nil {
		return 0, fmt.Errorf("read results: %w", err)
	}
	messagesOf, err := consumer.Messages(jetstream.PullMaxMessages(4096))
	if err != nil {
		return 0, fmt.Errorf("read results: %w", err)
	}
	defer messagesOf.Stop()
	t := tally{target: &r.web.target, known: make([]bool, r.fed)}
	for range last {
		m, err := messagesOf.Next(jetstream.NextContext(ctx))
		if err != nil {
			return n, fmt.Errorf("read results: %w", err)
		}
		parts, err := messages.SplitBatch(m.Headers(), m.Data())
		for _, part := range parts {
			var res *messages.Result
			if res, err = messages.DecodeResult(part.Data); err == nil {
				err = t.add(res)
			}
			if err != nil {
				break
			}
			n++
		}
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// tally is of the results that have come.
type tally struct {
	*target
	known []bool // by index of the URL
}

var errTwice = errors.New("it has two results")

// add fails if the result is not the first one of its request, or is not well.
func (t *tally) add(res *messages.Result) error {
	i, err := t.index(res.URL)
	switch {
	case err != nil:
		return err
	case i >= len(t.known):
		return fmt.Errorf("%s was not asked for", res.URL)
	case res.Class != messages.OK:
		return fmt.Errorf("%s: %s %s", res.URL, res.Class, res.Error)
	case t.known[i]:
		return fmt.Errorf("%s: %w", res.URL, errTwice)
	}
	t.known[i] = true
	return nil
}

package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/base/sleep"
	"seine/pkg/messages"
)

// stuckTime is how long nothing may move: no request, no URL that changes its state, no crawl that ends. Retries of pages and leases take
// seconds, a connection that hangs half a minute, a request that was lost a minute.
const stuckTime = 4 * time.Minute

// soak makes faults for as long as asked, crawls meanwhile, and checks.
func soak(ctx context.Context, o options, r *testbed, kinds []fault, t *tally) error {
	if err := r.start(ctx); err != nil {
		return err
	}
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	s := &session{options: o, testbed: r, tally: t, began: time.Now()}
	s.doing.Store("starting")
	faults, calm := context.WithTimeout(ctx, o.Duration)
	defer calm()
	stormed := make(chan struct{})
	go func() {
		defer close(stormed)
		injectFaults(faults, r, kinds, o.Seed, o.Every)
	}()
	watched := make(chan struct{})
	watching, stopWatching := context.WithCancel(ctx)
	go func() {
		defer close(watched)
		s.watch(watching, fail)
	}()
	err := s.crawls(ctx, faults)
	calm()
	<-stormed
	stopWatching()
	<-watched
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return err
	}
	return s.finish(ctx)
}

// session is a soak under way.
type session struct {
	options
	*testbed
	*tally
	began time.Time
	doing atomic.Value // string
	now   atomic.Pointer[crawl]
}

// crawls makes one crawl after the other until the faults are over.
func (s *session) crawls(ctx, faults context.Context) error {
	for n := 1; faults.Err() == nil; n++ {
		if err := s.crawl(ctx, n); err != nil {
			return err
		}
	}
	return nil
}

// crawl makes one crawl and checks it when it is complete.
func (s *session) crawl(ctx context.Context, n int) error {
	c, err := newCrawl(s.options, n)
	if err != nil {
		return err
	}
	defer func() { _ = c.server.Close() }()
	s.now.Store(c)
	s.doing.Store(c.name + " begins")
	if err := c.feed(ctx, s.bus); err != nil {
		return err
	}
	for pages := int64(0); ; {
		done, counters := c.ended(ctx, s.bus)
		pages = max(pages, counters.Pages) // none are told of while nobody answers, which is no movement
		s.doing.Store(fmt.Sprintf("%s: %d of %d pages", c.name, pages, len(c.pages)))
		if done {
			s.doing.Store(c.name + " is complete, checking")
			if err := c.checkStates(ctx, s.bus, counters, s.tally); err != nil {
				return err
			}
			break
		}
		if err := sleep.For(ctx, 500*time.Millisecond); err != nil {
			return err //nolint:wrapcheck // an interrupt
		}
	}
	c.checkRequests(s.tally)
	for name, out := range s.outputs {
		s.doing.Store(c.name + " is complete, waiting for " + name)
		if err := c.checkRecords(ctx, name, out, s.tally); err != nil {
			return err
		}
	}
	s.mu.Lock()
	s.tally.crawls++
	s.pages += int64(len(c.pages))
	s.mu.Unlock()
	s.progress(true)
	return nil
}

// watch prints how the soak stands every ten seconds, looks at the requests of the crawl under way, and gives up when
// nothing moves.
func (s *session) watch(ctx context.Context, fail context.CancelCauseFunc) {
	var before string
	for second := 1; sleep.For(ctx, time.Second) == nil; second++ {
		c := s.now.Load()
		if c == nil {
			continue
		}
		at := fmt.Sprint(c.name, len(c.web.Requests()), s.doing.Load())
		if stalled := s.progress(at != before); stalled > stuckTime {
			s.violation("nothing has moved for %s: %v", stalled.Round(time.Second), s.doing.Load())
			fail(errStuck)
			return
		}
		before = at
		if second%10 == 0 {
			c.checkRequests(s.tally)
			fmt.Println(s.line(time.Since(s.began), fmt.Sprint(s.doing.Load())))
		}
	}
}

// finish ends all stages in order, and looks at everything once more.
func (s *session) finish(ctx context.Context) error {
	s.drain()
	if s.renders() {
		s.judgeLeftovers(ctx)
	}
	for name, out := range s.outputs {
		err := insist(ctx, "verify the output "+name, func(ctx context.Context) error {
			bad, err := out.problems(ctx, name, "", name != roleS3) // a frozen writer may leave a file in S3
			if err == nil {
				s.judgeFiles(name, bad)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return insist(ctx, "look at "+messages.StreamDead, func(ctx context.Context) error {
		st, err := s.bus.JS.Stream(ctx, messages.StreamDead)
		if err != nil {
			return err //nolint:wrapcheck // by insist
		}
		info, err := st.Info(ctx, jetstream.WithSubjectFilter(">"))
		if err != nil {
			return err //nolint:wrapcheck // by insist
		}
		if n := info.State.Msgs; n > 0 {
			s.mu.Lock()
			s.deadLetters = int(n) //nolint:gosec // few
			s.mu.Unlock()
			s.violation("%d dead letters, of pages that all can be handled: %v", n, info.State.Subjects)
		}
		return nil
	})
}

package main

import (
	"context"
	"time"

	"seine/bench/contract"
	"seine/internal/base/sleep"
)

// soak makes faults for as long as asked, crawls meanwhile, and checks.
func soak(ctx context.Context, o options, r *testbed, kinds []fault, t *contract.Tally) error {
	if err := r.start(ctx); err != nil {
		return err
	}
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	s := &session{options: o, testbed: r, Tally: t}
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
		r.now.Watch(watching, t, fail)
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
	*contract.Tally
	ended []*contract.Crawl // that were checked
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
	defer c.Close()
	s.now.Begin(c)
	s.now.Say(c.Name + " begins")
	if err := s.feed(ctx, c); err != nil {
		return err
	}
	for {
		if done, err := s.look(ctx, c); done || err != nil {
			return err
		}
		if err := sleep.For(ctx, 500*time.Millisecond); err != nil {
			return err // an interrupt
		}
	}
}

// feed begins a crawl, while nobody restores the time before.
func (s *session) feed(ctx context.Context, c *contract.Crawl) error {
	s.cluster.Lock()
	defer s.cluster.Unlock()
	s.open = c
	return c.Feed(ctx, s.bus)
}

// look checks the crawl if it is complete.
func (s *session) look(ctx context.Context, c *contract.Crawl) (done bool, err error) {
	s.cluster.Lock()
	defer s.cluster.Unlock()
	done, counters := c.Look(ctx, s.bus, s.now.Say)
	if !done {
		return false, nil
	}
	s.open, s.ended = nil, append(s.ended, c)
	return true, c.Check(ctx, s.bus, counters, s.outputs, s.Tally, s.now.Say)
}

// finish ends all stages in order, and looks at everything once more.
func (s *session) finish(ctx context.Context) error {
	for _, c := range s.ended {
		if err := c.CheckAgain(ctx, s.bus, s.outputs, s.Tally); err != nil {
			return err
		}
	}
	s.drain()
	if s.renders() {
		s.judgeLeftovers(ctx)
	}
	if err := contract.CheckFiles(ctx, s.outputs, s.Tally); err != nil {
		return err
	}
	return contract.CheckDead(ctx, s.bus, s.Tally)
}

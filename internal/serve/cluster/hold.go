package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"seine/internal/run/connect"
	"seine/pkg/stages"
)

// holdFor is how long what is stored is held at a time. A crawl that starts there waits for longer.
const holdFor = 15 * time.Second

// Hold calls do with a connection for work that takes long, and that can be interrupted and gone on with. Ends says that
// its server may end for good, as that of a crawl in the directory does.
//
// What is stored is open to everybody else meanwhile. The context ends after holdFor, or when a crawl is to begin in this
// process, so that crawls can start there at any time: then Hold is called again. The error is that of Do.
func (c *Cluster) Hold(ctx context.Context, do func(ctx context.Context, bus *stages.Bus, ends bool) error) error {
	if c.hasEnded() {
		return c.holdStored(ctx, do)
	}
	bus, err := c.join(ctx)
	if c.wasKilled(err) {
		return c.holdStored(ctx, do)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrAway, err)
	}
	defer bus.Close()
	denied, cancel := bus.Refusals.CancelOnDenied(ctx)
	defer cancel()
	err = do(denied, bus, c.local != "")
	if refused, ok := errors.AsType[*stages.PermissionError](context.Cause(denied)); ok {
		return refused
	}
	if err != nil && !bus.NC.IsConnected() {
		return fmt.Errorf("%w: %w", ErrAway, err)
	}
	return err
}

// wasKilled reports whether the crawl of the directory was killed, by the error of join: what it has stored is there.
func (c *Cluster) wasKilled(err error) bool {
	return errors.Is(err, connect.ErrNoCrawl) && c.local != "" && connect.HasStreams(c.local)
}

func (c *Cluster) holdStored(ctx context.Context, do func(context.Context, *stages.Bus, bool) error) error {
	s, err := c.hold(ctx)
	if err != nil {
		return err
	}
	defer s.release()
	held, cancel := context.WithTimeout(ctx, holdFor)
	defer cancel()
	defer context.AfterFunc(s.yield, cancel)()
	return do(held, s.bus, false)
}

// hold opens what is stored, and keeps it open for holdFor.
func (c *Cluster) hold(ctx context.Context) (*stored, error) {
	select {
	case c.lock <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-c.lock }()
	if _, _, err := c.openStored(ctx); err != nil {
		return nil, err
	}
	s := c.stored
	s.mu.Lock()
	defer s.mu.Unlock()
	s.until = time.Now().Add(holdFor)
	return s, nil
}

// GiveWay has what is stored closed soon, whatever holds it: a crawl is to begin there.
func (c *Cluster) GiveWay() {
	c.lock <- struct{}{}
	defer func() { <-c.lock }()
	if c.stored != nil {
		c.stored.giveWay()
	}
}

func (s *stored) giveWay() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	s.endIfIdle()
	s.yields()
}

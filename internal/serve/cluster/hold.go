package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"seine/internal/run/connect"
	"seine/pkg/stages"
)

// holdFor bounds how long Hold keeps the stored state open. A crawl that starts there waits longer.
const holdFor = 15 * time.Second

// Hold calls do with a connection for long work that can be interrupted and resumed. ends is set if
// the server may end for good, as the server of a crawl in the directory does.
//
// Other requests can use the stored state meanwhile. The context is cancelled after holdFor, or
// when a crawl is to begin in this process, so that crawls can start at any time. The caller then
// calls Hold again. Errors are those of Do.
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

// wasKilled reports whether the error of join means that the crawl of the directory was killed, so
// that only its stored state is left.
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

// hold opens the stored state for holdFor.
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

// GiveWay closes the stored state soon, even if it is held, because a crawl is to begin there.
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

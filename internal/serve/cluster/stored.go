package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"seine/internal/run/connect"
	"seine/internal/run/crawl"
	"seine/pkg/stages"
)

// Durations for which the stored state is open.
const (
	// linger is how long it stays open after the last request, because pages send several in a row.
	linger = time.Second
	// openFor bounds how long it accepts new requests, because a crawl that starts there waits for
	// it.
	openFor = 5 * time.Second
	// pause is how long it then stays closed, so that a waiting crawl can open it.
	pause = 250 * time.Millisecond
)

// stored is the open stored state of a directory.
type stored struct {
	bus    *stages.Bus
	end    context.CancelFunc
	ended  chan struct{}   // closed when the state is closed
	yield  context.Context // done when the holder must release it
	yields context.CancelFunc

	mu    sync.Mutex
	until time.Time // end of new requests
	users int
	over  bool // accepts no new requests
	timer *time.Timer
}

// openStored returns a connection to the stored state. The caller holds the lock of the cluster.
func (c *Cluster) openStored(ctx context.Context) (*stages.Bus, func(), error) {
	if !connect.HasStreams(c.local) {
		return nil, nil, fmt.Errorf("%w in %s", ErrEmpty, c.local)
	}
	if c.stored != nil {
		if c.stored.use() {
			return c.stored.bus, c.stored.release, nil
		}
		select {
		case <-c.stored.ended:
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
		c.stored = nil
	}
	s := &stored{until: time.Now().Add(openFor), users: 1, ended: make(chan struct{})}
	s.yield, s.yields = context.WithCancel(context.WithoutCancel(ctx))
	var open context.Context
	open, s.end = context.WithCancel(context.WithoutCancel(ctx))
	opened, failed := make(chan *stages.Bus), make(chan error, 1)
	go func() {
		err := crawl.Open(open, c.local, c.log, func(ctx context.Context, bus *stages.Bus) error {
			select {
			case opened <- bus:
				<-ctx.Done()
			case <-ctx.Done(): // no caller waits any longer
			}
			return nil
		})
		failed <- err
		if errors.Is(err, context.Canceled) || err == nil {
			time.Sleep(pause)
		}
		s.yields()
		close(s.ended)
	}()
	select {
	case s.bus = <-opened:
		c.stored = s
		return s.bus, s.release, nil
	case err := <-failed:
		s.end()
		return nil, nil, fmt.Errorf("open the stored state in %s: %w", c.local, err)
	case <-ctx.Done():
		s.end()
		return nil, nil, ctx.Err()
	}
}

// use adds a user, and reports whether it could.
func (s *stored) use() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over || time.Now().After(s.until) {
		s.over = true
		s.endIfIdle()
		return false
	}
	s.users++
	return true
}

// release removes a user.
func (s *stored) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users--
	if s.users > 0 {
		return
	}
	if s.over {
		s.endIfIdle()
		return
	}
	if s.timer != nil {
		s.timer.Stop()
	}
	s.timer = time.AfterFunc(linger, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.over = s.over || s.users == 0
		s.endIfIdle()
	})
}

func (s *stored) endIfIdle() {
	if s.over && s.users == 0 {
		s.end()
	}
}

// close closes the state even if it is in use.
func (s *stored) close() {
	if s == nil {
		return
	}
	s.giveWay()
	s.end()
	<-s.ended
}

// Stamp returns a time that changes whenever a crawl begins or ends in the directory; zero while
// one runs, and with an external NATS server. The stored state does not change while its stamp is
// the same.
func (c *Cluster) Stamp() time.Time {
	if !c.hasEnded() {
		return time.Time{}
	}
	return connect.LocalChanged(c.local)
}

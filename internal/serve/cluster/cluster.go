// Package cluster is what the server inspects: the cluster of a NATS server, the crawl that runs in a
// directory, or, if none runs there, what it has stored.
//
// It has one connection for all requests, which comes back by itself after a broker's restart. What is stored
// is opened for a moment for a request, and closed soon after, so that a crawl can start there at any time.
package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"

	"seine/internal/base/sleep"
	"seine/internal/run/connect"
	"seine/internal/run/embedded"
	"seine/internal/serve/caller"
	"seine/internal/serve/turns"
	"seine/pkg/stages"
	"seine/pkg/stages/frontier/frontierapi"
)

// Mode says what is inspected.
type Mode string

// Modes.
const (
	Running Mode = "running" // processes that run
	Stored  Mode = "stored"  // what a crawl has stored that does not run
	Empty   Mode = "empty"   // there is nothing yet
	Away    Mode = "away"    // NATS cannot be reached
)

// Errors of Do.
var (
	// ErrAway says that NATS cannot be reached now, or has no streams of Seine.
	ErrAway = errors.New("NATS cannot be reached")
	// ErrEmpty says that no crawl was ever begun there.
	ErrEmpty = errors.New("no crawl exists yet")
)

// Times of connections.
const (
	joinTime = 5 * time.Second        // for a connection to find the streams
	backTime = 2 * time.Second        // a request waits so long for a connection that was lost
	backPoll = 20 * time.Millisecond  // between looks whether it is there
	redial   = 500 * time.Millisecond // the pause after a connection that failed
)

// Times for which a request waits for a crawl that begins or ends (Passes).
const (
	PassTime = 10 * time.Second
	PassPoll = 50 * time.Millisecond // between two tries
)

// Cluster is safe for concurrent use.
type Cluster struct {
	dial  func() (*stages.Bus, error)
	local string // directory of a seine crawl, "" if NATS is elsewhere
	log   *slog.Logger

	looks   *turns.Turns
	lock    chan struct{} // held with a value in it
	bus     *stages.Bus
	stored  *stored
	failed  error // of the last dial
	retryAt time.Time
}

// New returns the cluster of an operator's options, which are valid. Without any it is the directory of
// connect.DefaultData.
func New(o connect.Operator, log *slog.Logger) *Cluster {
	c := &Cluster{log: log, looks: turns.New(maxLooks, maxAllLooks, lookWait), lock: make(chan struct{}, 1)}
	if o.Options == (connect.Options{}) {
		o.Data = cmp.Or(o.Data, connect.DefaultData)
		c.local = o.Data
		log = slog.New(slog.DiscardHandler) // that a crawl ends is no trouble of the connection to it
	}
	c.dial = func() (*stages.Bus, error) { return o.Dial("seine-serve", log) }
	return c
}

// Close closes what is open.
func (c *Cluster) Close() {
	c.lock <- struct{}{}
	defer func() { <-c.lock }()
	if c.bus != nil {
		c.bus.Close()
		c.bus = nil
	}
	c.stored.close()
}

// Where is what is inspected, for a person.
func (c *Cluster) Where() string {
	if c.local != "" {
		return c.local
	}
	c.lock <- struct{}{}
	defer func() { <-c.lock }()
	if c.bus != nil {
		return c.bus.NC.ConnectedUrlRedacted()
	}
	return "NATS"
}

// Mode returns what is inspected now.
func (c *Cluster) Mode(ctx context.Context) Mode {
	if c.hasEnded() {
		if connect.HasStreams(c.local) {
			return Stored
		}
		return Empty
	}
	bus, release, err := c.acquire(ctx)
	switch {
	case errors.Is(err, ErrEmpty):
		return Empty
	case err != nil:
		return Away
	}
	defer release()
	if c.IsStored(bus) {
		return Stored
	}
	return Running
}

// IsStored reports whether a connection that Do has given is to what is stored.
func (c *Cluster) IsStored(bus *stages.Bus) bool {
	c.lock <- struct{}{}
	defer func() { <-c.lock }()
	return c.stored != nil && c.stored.bus == bus
}

// Do calls do with the connection. The error is ErrAway, ErrEmpty, that of do, or what the NATS server refuses.
func (c *Cluster) Do(ctx context.Context, do func(context.Context, *stages.Bus) error) error {
	bus, release, err := c.acquireOrWait(ctx)
	if err != nil {
		return err
	}
	defer release()
	denied, cancel := bus.Refusals.CancelOnDenied(ctx)
	defer cancel()
	connected, end := untilLost(denied, bus.NC)
	defer end()
	err = do(connected, bus)
	if err == nil {
		return nil
	}
	if refused, ok := errors.AsType[*stages.PermissionError](context.Cause(denied)); ok {
		return refused
	}
	if errors.Is(context.Cause(connected), ErrAway) || !bus.NC.IsConnected() {
		return fmt.Errorf("%w: the connection was lost", ErrAway)
	}
	return err
}

// Looks at a time, which read streams: NATS makes a consumer for each, and a stream has a bounded number of them.
const (
	maxLooks    = 4 // of one caller
	maxAllLooks = 16
	lookWait    = 10 * time.Second
)

// ErrBusy is returned by Look when others look for too long.
var ErrBusy = errors.New("too many requests of this kind at a time: send fewer in parallel, or try again in a moment")

// Look is Do for what reads streams. It waits for its turn, at most for lookWait.
func (c *Cluster) Look(ctx context.Context, do func(context.Context, *stages.Bus) error) error {
	end := c.looks.Begin(ctx, caller.Of(ctx).Name)
	if end == nil {
		return cmp.Or(ctx.Err(), ErrBusy)
	}
	defer end()
	return c.Do(ctx, do)
}

// untilLost returns a context that ends with ctx, or with ErrAway as its cause when the connection is lost: much
// of what asks waits for it to come back, which a client of HTTP need not.
func untilLost(ctx context.Context, nc *nats.Conn) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	lost := nc.StatusChanged(nats.DISCONNECTED, nats.RECONNECTING, nats.CLOSED)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case <-lost:
			cancel(ErrAway)
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		cancel(context.Canceled)
		<-ended
		nc.RemoveStatusListener(lost)
	}
}

// acquireOrWait returns a connection, for which it waits while a crawl begins in the directory, or ends, which has taken its word back
// before it lets go of what it has stored.
func (c *Cluster) acquireOrWait(ctx context.Context) (*stages.Bus, func(), error) {
	for until := time.Now().Add(PassTime); ; {
		bus, release, err := c.acquire(ctx)
		if err == nil || !c.Passes(err) || time.Now().After(until) || sleep.For(ctx, PassPoll) != nil {
			return bus, release, err
		}
	}
}

// acquire returns a connection, which may be used until it is released.
func (c *Cluster) acquire(ctx context.Context) (*stages.Bus, func(), error) {
	select {
	case c.lock <- struct{}{}:
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	defer func() { <-c.lock }()
	if c.bus != nil && !c.hasEnded() && c.alive(ctx) {
		return c.bus, func() {}, nil
	}
	if c.bus != nil && c.local == "" {
		return nil, nil, fmt.Errorf("%w: the connection was lost, and is sought", ErrAway) // the client connects again
	}
	if c.bus != nil { // another crawl has another server
		c.bus.Close()
		c.bus = nil
	}
	if c.hasEnded() {
		return c.openStored(ctx)
	}
	return c.connect(ctx)
}

// hasEnded reports whether no crawl runs in the directory, or one is ending, which has taken its word back.
func (c *Cluster) hasEnded() bool { return c.local != "" && !connect.HasLocal(c.local) }

// Passes reports whether an error passes within a moment: a crawl in the directory has just begun, or ends, and
// what it has stored can be inspected when it has.
func (c *Cluster) Passes(err error) bool {
	return c.local != "" && (errors.Is(err, ErrAway) || errors.Is(err, frontierapi.ErrUnanswered) || errors.Is(err, embedded.ErrInUse))
}

// alive reports whether there is a connection, after a moment if it was just lost.
func (c *Cluster) alive(ctx context.Context) bool {
	for deadline := time.Now().Add(backTime); !c.bus.NC.IsConnected(); {
		if c.hasEnded() || time.Now().After(deadline) || sleep.For(ctx, backPoll) != nil {
			return false
		}
	}
	return true
}

// connect dials, unless that has just failed.
func (c *Cluster) connect(ctx context.Context) (*stages.Bus, func(), error) {
	if time.Now().Before(c.retryAt) {
		return nil, nil, c.failed
	}
	bus, err := c.join(ctx)
	if c.wasKilled(err) {
		return c.openStored(ctx)
	}
	if err != nil {
		c.failed, c.retryAt = fmt.Errorf("%w: %w", ErrAway, err), time.Now().Add(redial)
		return nil, nil, c.failed
	}
	c.bus = bus
	return bus, func() {}, nil
}

// join dials, and finds the streams.
func (c *Cluster) join(ctx context.Context) (*stages.Bus, error) {
	bus, err := c.dial()
	if err != nil {
		return nil, err
	}
	joining, cancel := context.WithTimeout(ctx, joinTime)
	defer cancel()
	if err := bus.Join(joining); err != nil {
		defer bus.Close()
		return nil, fmt.Errorf("no Seine streams at %s (a frontier creates them when it starts): %w", bus.NC.ConnectedUrlRedacted(), bus.Refusals.WithErr(err))
	}
	return bus, nil
}

// Local is the directory of a seine crawl that is inspected, "" if NATS is elsewhere.
func (c *Cluster) Local() string { return c.local }

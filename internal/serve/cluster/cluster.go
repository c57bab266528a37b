// Package cluster connects the server to a cluster: at a NATS server, to the crawl that runs in a
// directory, or, if none runs there, to its stored state.
//
// All requests share one connection, which reconnects after a restart of the broker. Stored state
// is opened for a request and closed soon after it, so that a crawl can start in the directory at
// any time.
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

// Mode is the kind of cluster.
type Mode string

// Modes.
const (
	Running Mode = "running" // running processes
	Stored  Mode = "stored"  // stored state of a crawl that does not run
	Empty   Mode = "empty"   // no crawl exists yet
	Away    Mode = "away"    // NATS is unreachable
)

// Errors of Do.
var (
	// ErrAway is returned if NATS is unreachable or has no streams of Seine.
	ErrAway = errors.New("NATS cannot be reached")
	// ErrEmpty is returned if no crawl was ever started there.
	ErrEmpty = errors.New("no crawl exists yet")
)

// Durations of connections.
const (
	joinTime = 5 * time.Second        // for a connection to find the streams
	backTime = 2 * time.Second        // for a request to wait for a lost connection
	backPoll = 20 * time.Millisecond  // interval of these checks
	redial   = 500 * time.Millisecond // wait after a failed connection
)

// Times that a request waits for a crawl to begin or end (Passes).
const (
	PassTime = 10 * time.Second
	PassPoll = 50 * time.Millisecond // interval of retries
)

// Cluster is a connection to a cluster. It is safe for concurrent use.
type Cluster struct {
	dial  func() (*stages.Bus, error)
	local string // directory of a seine crawl, "" for an external NATS server
	log   *slog.Logger

	looks   *turns.Turns
	lock    chan struct{} // holds a value while locked
	bus     *stages.Bus
	stored  *stored
	failed  error // error of the last dial
	retryAt time.Time
}

// New returns the cluster for valid options. Without options it uses the directory
// connect.DefaultData.
func New(o connect.Operator, log *slog.Logger) *Cluster {
	c := &Cluster{log: log, looks: turns.New(maxLooks, maxAllLooks, lookWait), lock: make(chan struct{}, 1)}
	if o.Options == (connect.Options{}) {
		o.Data = cmp.Or(o.Data, connect.DefaultData)
		c.local = o.Data
		log = slog.New(slog.DiscardHandler) // the end of a crawl is not an error of the connection
	}
	c.dial = func() (*stages.Bus, error) { return o.Dial("seine-serve", log) }
	return c
}

// Close closes the connection and the stored state.
func (c *Cluster) Close() {
	c.lock <- struct{}{}
	defer func() { <-c.lock }()
	if c.bus != nil {
		c.bus.Close()
		c.bus = nil
	}
	c.stored.close()
}

// Where describes the location of the cluster.
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

// Mode returns the current mode.
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

// IsStored reports whether a connection from Do is to stored state.
func (c *Cluster) IsStored(bus *stages.Bus) bool {
	c.lock <- struct{}{}
	defer func() { <-c.lock }()
	return c.stored != nil && c.stored.bus == bus
}

// Do calls do with the connection. The error is ErrAway, ErrEmpty, that of do, or a permission that
// the NATS server denies.
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

// Limits of concurrent searches of streams, because each needs a consumer and consumers per stream
// are limited.
const (
	maxLooks    = 4 // per caller
	maxAllLooks = 16
	lookWait    = 10 * time.Second
)

// ErrBusy is returned by Look after a wait of lookWait for other searches.
var ErrBusy = errors.New("too many requests of this kind at a time: send fewer in parallel, or try again in a moment")

// Look is Do for searches of streams. It waits for its turn, at most lookWait.
func (c *Cluster) Look(ctx context.Context, do func(context.Context, *stages.Bus) error) error {
	end := c.looks.Acquire(ctx, caller.Of(ctx).Name)
	if end == nil {
		return cmp.Or(ctx.Err(), ErrBusy)
	}
	defer end()
	return c.Do(ctx, do)
}

// untilLost returns a context that is cancelled with ErrAway when the connection is lost. Many
// operations would wait for a reconnect, but an HTTP client need not.
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

// acquireOrWait returns a connection. It waits while a crawl begins or ends in the directory: an
// ending crawl removes its address before it releases the stored state.
func (c *Cluster) acquireOrWait(ctx context.Context) (*stages.Bus, func(), error) {
	for until := time.Now().Add(PassTime); ; {
		bus, release, err := c.acquire(ctx)
		if err == nil || !c.IsTemporary(err) || time.Now().After(until) || sleep.For(ctx, PassPoll) != nil {
			return bus, release, err
		}
	}
}

// acquire returns a connection for use until it is released.
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
		return nil, nil, fmt.Errorf("%w: the connection was lost, and is sought", ErrAway) // the client reconnects
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

// hasEnded reports whether no crawl runs in the directory, or the crawl is ending and has removed
// its address.
func (c *Cluster) hasEnded() bool { return c.local != "" && !connect.HasLocal(c.local) }

// IsTemporary reports whether an error is temporary: a crawl in the directory has just begun or is
// ending, after which its stored state can be read.
func (c *Cluster) IsTemporary(err error) bool {
	return c.local != "" && (errors.Is(err, ErrAway) || errors.Is(err, frontierapi.ErrUnanswered) || errors.Is(err, embedded.ErrInUse))
}

// alive reports whether the connection is up. It waits for a reconnect if the connection was just
// lost.
func (c *Cluster) alive(ctx context.Context) bool {
	for deadline := time.Now().Add(backTime); !c.bus.NC.IsConnected(); {
		if c.hasEnded() || time.Now().After(deadline) || sleep.For(ctx, backPoll) != nil {
			return false
		}
	}
	return true
}

// connect dials, unless the last attempt has just failed.
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

// join dials and finds the streams.
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

// Local returns the directory of a seine crawl, "" for an external NATS server.
func (c *Cluster) Local() string { return c.local }

// Package snapshots polls the cluster once for all watchers, however many pages are open. Each
// snapshot has rates since the previous one, and is encoded as JSON once.
package snapshots

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"seine/internal/ops/overview"
	"seine/internal/serve/cluster"
	"seine/pkg/stages"
)

// Snapshot is the state of the cluster at one time.
type Snapshot struct {
	At   time.Time    `json:"at"`
	Mode cluster.Mode `json:"mode"`
	// Problem is the reason why the state is unknown, "" if it is known.
	Problem string `json:"problem,omitempty"`
	// Overview is nil if the state is unknown. It must not be changed.
	Overview *overview.Overview `json:"overview,omitempty"`

	text []byte
}

// JSON returns the encoded snapshot.
func (s *Snapshot) JSON() []byte { return s.text }

// Bounds of a snapshot, for display.
const (
	mostCrawls  = 50
	mostHosts   = 100
	mostLetters = 20
)

// Intervals of polls.
const (
	// Watched is the interval while there are watchers.
	Watched = 2 * time.Second
	// Unwatched is the interval without watchers.
	Unwatched = 10 * time.Second
	// lookTime bounds one poll.
	lookTime = 15 * time.Second
)

// Feed polls the cluster. It is safe for concurrent use.
type Feed struct {
	cluster *cluster.Cluster
	log     *slog.Logger

	// Each, if set before Run, is called with each overview before the watchers get it, and may
	// change it.
	Each func(*overview.Overview)

	mu       sync.Mutex
	last     *Snapshot
	wanted   map[string]time.Time // crawls to query first, with the end of that preference
	watchers map[chan *Snapshot]bool
	wake     chan struct{}
}

// New returns a feed that does nothing before Run.
func New(c *cluster.Cluster, log *slog.Logger) *Feed {
	return &Feed{cluster: c, log: log, wanted: make(map[string]time.Time), watchers: make(map[chan *Snapshot]bool), wake: make(chan struct{}, 1)}
}

// Run polls until ctx is done.
func (f *Feed) Run(ctx context.Context) {
	var before *overview.Overview
	reader := overview.Reader{Most: mostCrawls, Alerts: true, Hosts: mostHosts, Letters: mostLetters}
	for ctx.Err() == nil {
		s := f.look(ctx, &reader)
		if s.Overview != nil {
			s.Overview.ComputeRates(before)
			if f.Each != nil {
				f.Each(s.Overview)
			}
		}
		before = s.Overview
		f.publish(s)
		f.rest(ctx)
	}
}

// look polls once. Stored state does not change while no crawl runs, and opening it repeatedly
// would block the start of a crawl, so the snapshot has only the mode then.
func (f *Feed) look(ctx context.Context, r *overview.Reader) *Snapshot {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	s := &Snapshot{At: time.Now().UTC(), Mode: f.cluster.Mode(ctx)}
	if s.Mode == cluster.Stored || s.Mode == cluster.Empty {
		return s
	}
	err := f.cluster.Do(ctx, func(ctx context.Context, bus *stages.Bus) (err error) {
		r.Bus, r.First = bus, f.first()
		s.Overview, err = r.Read(ctx)
		return err
	})
	if _, refused := errors.AsType[*stages.PermissionError](err); refused && r.Letters > 0 {
		r.Letters = 0 // viewers may not read dead letters; omit them from the next poll on
	}
	if err != nil {
		s.Problem, s.Overview = err.Error(), nil
	}
	return s
}

// publish sends a snapshot to all watchers. It replaces a snapshot that a watcher has not read yet.
func (f *Feed) publish(s *Snapshot) {
	var err error
	if s.text, err = json.Marshal(s); err != nil {
		f.log.Error("cannot encode the status", "error", err)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last = s
	for c := range f.watchers {
		select {
		case <-c:
		default:
		}
		c <- s
	}
}

// rest waits until the next poll.
func (f *Feed) rest(ctx context.Context) {
	wait := Unwatched
	if f.watched() {
		wait = Watched
	}
	select {
	case <-ctx.Done():
	case <-time.After(wait):
	case <-f.wake:
	}
}

func (f *Feed) watched() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.watchers) > 0
}

// wantedFor is how long a viewed crawl is queried before others.
const wantedFor = time.Minute

// Want queries a crawl before others for a minute.
func (f *Feed) Want(crawl string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.wanted) < mostCrawls {
		f.wanted[crawl] = time.Now().Add(wantedFor)
	}
}

// first returns the viewed crawls.
func (f *Feed) first() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	maps.DeleteFunc(f.wanted, func(_ string, until time.Time) bool { return time.Now().After(until) })
	return slices.Sorted(maps.Keys(f.wanted))
}

// Refresh polls at once, to show the effect of an action.
func (f *Feed) Refresh() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// Last returns the last snapshot, nil before the first.
func (f *Feed) Last() *Snapshot {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last
}

// Watch returns a channel of snapshots, beginning with the last one, and a function that ends it.
// The channel is never closed.
func (f *Feed) Watch() (<-chan *Snapshot, func()) {
	c := make(chan *Snapshot, 1)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.last != nil {
		c <- f.last
	}
	f.watchers[c] = true
	if len(f.watchers) == 1 { // poll soon for the first watcher
		f.Refresh()
	}
	return c, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.watchers, c)
	}
}

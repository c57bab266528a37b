// Package snapshots polls the cluster for all watchers: once, however many
// pages are open. It emits the state of everything, with rates since the poll before, as JSON that is made once.
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

// Snapshot is how everything stands at a moment.
type Snapshot struct {
	At   time.Time    `json:"at"`
	Mode cluster.Mode `json:"mode"`
	// Problem is why the state is unknown, "" if it is known.
	Problem string `json:"problem,omitempty"`
	// Overview is nil if the state is unknown. It must not be changed.
	Overview *overview.Overview `json:"overview,omitempty"`

	text []byte
}

// JSON is the snapshot as it is sent.
func (s *Snapshot) JSON() []byte { return s.text }

// Bounds of a snapshot: what a page shows at once.
const (
	mostCrawls  = 50
	mostHosts   = 100
	mostLetters = 20
)

// Times of looks.
const (
	// Watched is the time between two polls while there are watchers.
	Watched = 2 * time.Second
	// Unwatched is between two looks that are only kept for later.
	Unwatched = 10 * time.Second
	// lookTime bounds one look.
	lookTime = 15 * time.Second
)

// Feed is safe for concurrent use.
type Feed struct {
	cluster *cluster.Cluster
	log     *slog.Logger

	// Each, if set before Run, is called with a snapshot before the watchers get it, and may change it.
	Each func(*overview.Overview)

	mu       sync.Mutex
	last     *Snapshot
	wanted   map[string]time.Time // until when crawls are asked about before others
	watchers map[chan *Snapshot]bool
	wake     chan struct{}
}

// New returns a feed that does nothing before Run.
func New(c *cluster.Cluster, log *slog.Logger) *Feed {
	return &Feed{cluster: c, log: log, wanted: make(map[string]time.Time), watchers: make(map[chan *Snapshot]bool), wake: make(chan struct{}, 1)}
}

// Run looks until ctx is done.
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
		f.tell(s)
		f.rest(ctx)
	}
}

// look polls once. What is stored does not change while no crawl runs, and to open it again and again
// would keep a crawl from starting: the last snapshot is used again.
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
		r.Letters = 0 // who may only look may not read what is in them: see all else from the next look on
	}
	if err != nil {
		s.Problem, s.Overview = err.Error(), nil
	}
	return s
}

// tell sends a snapshot to all watchers; one that has not taken the one before gets this instead.
func (f *Feed) tell(s *Snapshot) {
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

// rest waits until the next look.
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

// wantedFor is how long a crawl is polled before others after it was viewed.
const wantedFor = time.Minute

// Want has a crawl asked about for a minute, whatever others there are.
func (f *Feed) Want(crawl string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.wanted) < mostCrawls {
		f.wanted[crawl] = time.Now().Add(wantedFor)
	}
}

// first returns the crawls that are viewed.
func (f *Feed) first() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	maps.DeleteFunc(f.wanted, func(_ string, until time.Time) bool { return time.Now().After(until) })
	return slices.Sorted(maps.Keys(f.wanted))
}

// Refresh looks at once, to show what has come of an order.
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

// Watch returns a channel of snapshots, the last one first, which is never closed, and a function that ends it.
func (f *Feed) Watch() (<-chan *Snapshot, func()) {
	c := make(chan *Snapshot, 1)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.last != nil {
		c <- f.last
	}
	f.watchers[c] = true
	if len(f.watchers) == 1 { // a poll soon, as there is a watcher now
		f.Refresh()
	}
	return c, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.watchers, c)
	}
}

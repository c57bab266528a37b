package webhooks

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"seine/internal/base/panics"
	"seine/internal/base/sleep"
	"seine/internal/ops/overview"
	"seine/internal/ops/records"
	"seine/internal/serve/cluster"
	"seine/pkg/stages"
	"seine/pkg/stages/frontier/frontierapi"
)

// End is an ended run of a crawl.
type End struct {
	Crawl string `json:"crawl"`
	// Reason is why the crawl has ended; "" if its schedule continues.
	Reason frontierapi.EndReason `json:"end,omitempty"`
	Run    frontierapi.Run       `json:"run"`

	// upto is a position in RECORDS after all records of the run.
	upto uint64
}

func (e *End) key() postedEnd { return postedEnd{e.Run.Run, e.Run.Ended} }

// after reports whether e is to be posted after t. The end of an earlier run may be later than it
// was known to be when posted; it is not posted again.
func (e *End) after(t postedEnd, newest bool) bool {
	return e.Run.Ended.After(t.Ended) && (newest || e.Run.Run != t.Run)
}

// Bounds of polls.
const (
	lookEvery  = 2 * time.Second
	lookTime   = 30 * time.Second
	mostLooked = 50 // crawls per poll: those that ran, and others in turn
	asking     = 8  // crawls queried in parallel
	mostRuns   = 20 // per crawl
)

// ends detects ended runs for all webhooks. It is safe for concurrent use.
type ends struct {
	cluster *cluster.Cluster
	log     *slog.Logger
	reader  overview.Reader
	turn    int // index of the next name for crawls polled in turn
	looked  time.Time

	mu    sync.Mutex
	known map[string]*known
}

// known is the known state of a crawl.
type known struct {
	crawl overview.Crawl
	ended []End // the oldest first
}

func newEnds(c *cluster.Cluster, log *slog.Logger) *ends {
	return &ends{cluster: c, log: log, known: make(map[string]*known)}
}

// run polls until ctx is done, while there are webhooks for ends.
func (e *ends) run(ctx context.Context, wanted func() (crawls []string, all bool)) {
	for ctx.Err() == nil {
		if crawls, all := wanted(); len(crawls) > 0 {
			if err := e.look(ctx, crawls, all); err != nil && ctx.Err() == nil {
				e.log.Debug("cannot determine which crawls have ended", "error", err)
			}
		}
		_ = sleep.For(ctx, lookEvery)
	}
}

// look polls once. It skips stored state that it has polled before and that no crawl has changed
// since.
func (e *ends) look(ctx context.Context, crawls []string, all bool) error {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	stamp, rest := e.cluster.Stamp(), false
	if !stamp.IsZero() && stamp.Equal(e.looked) {
		return nil
	}
	err := e.cluster.Do(ctx, func(ctx context.Context, bus *stages.Bus) (err error) {
		if all {
			if crawls, err = overview.Names(ctx, bus); err != nil {
				return err
			}
		}
		e.forget(crawls)
		chosen := e.choose(crawls)
		rest = len(chosen) < len(crawls)
		return e.lookAt(ctx, bus, chosen)
	})
	if errors.Is(err, cluster.ErrEmpty) {
		return nil
	}
	if err == nil && !rest {
		e.looked = stamp
	}
	return err
}

// forget drops all crawls except those in but, which is sorted.
func (e *ends) forget(but []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	maps.DeleteFunc(e.known, func(crawl string, _ *known) bool {
		_, there := slices.BinarySearch(but, crawl)
		return !there
	})
}

// choose returns the crawls to poll: those that ran, and others in turn.
func (e *ends) choose(crawls []string) []string {
	if len(crawls) <= mostLooked {
		return crawls
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	var chosen []string
	for name, k := range e.known {
		if k.crawl.End == frontierapi.NotEnded && len(chosen) < mostLooked/2 {
			chosen = append(chosen, name)
		}
	}
	for len(chosen) < mostLooked {
		chosen = append(chosen, crawls[e.turn%len(crawls)])
		e.turn++
	}
	slices.Sort(chosen)
	return slices.Compact(chosen)
}

// lookAt reads the state of crawls, and their ended runs.
func (e *ends) lookAt(ctx context.Context, bus *stages.Bus, names []string) error {
	e.reader.Bus = bus
	crawls, err := e.reader.ReadNamed(ctx, names, nil)
	if err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(asking)
	for i := range crawls {
		g.Go(panics.Caught(func() error { return e.learn(ctx, bus, &crawls[i]) }))
	}
	return g.Wait()
}

// learn learns which runs of a crawl have ended, unless it stands as before.
func (e *ends) learn(ctx context.Context, bus *stages.Bus, c *overview.Crawl) (err error) {
	if c.Problem != "" {
		return errors.New(c.Problem)
	}
	e.mu.Lock()
	was := e.known[c.Name]
	e.mu.Unlock()
	if was != nil && c.StillEnded(&was.crawl) {
		return nil
	}
	k := &known{crawl: *c}
	if c.End != frontierapi.NotEnded || c.Spec.Schedule != "" || c.Run > 0 {
		if k.ended, err = runsOf(ctx, bus, c); err != nil {
			return err
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.known[c.Name] = k
	return nil
}

// next returns the first end to post to a webhook, nil if there is none.
func (e *ends) next(h *Hook, have map[string]postedEnd) *End {
	e.mu.Lock()
	defer e.mu.Unlock()
	var first *End
	for crawl, k := range e.known {
		if !h.covers(crawl) {
			continue
		}
		for i := range k.ended {
			end := &k.ended[i]
			if end.after(have[crawl], i == len(k.ended)-1) {
				if first == nil || end.Run.Ended.Before(first.Run.Ended) {
					first = end
				}
				break
			}
		}
	}
	return first
}

// runsOf returns the ended runs of a crawl. A crawl that ended without a request has one, too.
func runsOf(ctx context.Context, bus *stages.Bus, c *overview.Crawl) ([]End, error) {
	runs, err := frontierapi.Client{Bus: bus}.Runs(ctx, c.Name, c.Spec, mostRuns)
	if err != nil {
		return nil, err
	}
	at, err := records.End(ctx, bus)
	if err != nil {
		return nil, err
	}
	if len(runs) == 0 && c.End != frontierapi.NotEnded && c.End != frontierapi.Empty {
		changed := time.UnixMilli(c.Changed).UTC()
		runs = []frontierapi.Run{{Run: c.Run, Last: changed, Ended: changed}}
	}
	var all []End
	for i := range slices.Backward(runs) {
		end := End{Crawl: c.Name, Run: runs[i], upto: at.Sequence}
		if i == 0 {
			end.Reason = c.End
		}
		if !end.Run.Ended.IsZero() {
			all = append(all, end)
		}
	}
	return all, nil
}

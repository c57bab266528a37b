package watchdog

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"seine/internal/ops/alerts"
	"seine/internal/ops/overview"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
)

// bucket is a store with NATS's compare-and-set semantics.
type bucket struct {
	mu    sync.Mutex
	state alerts.State
	rev   uint64
	away  bool
}

func (b *bucket) Load(context.Context, string) (alerts.State, uint64, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.state.Clone(), b.rev, nil
}

func (b *bucket) Names(context.Context) ([]string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.rev == 0 {
		return nil, nil
	}
	return []string{"news"}, nil
}

func (b *bucket) Save(_ context.Context, _ string, st *alerts.State, rev uint64) (uint64, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.away:
		return 0, errors.New("no responders")
	case rev != b.rev:
		return 0, alerts.ErrChanged
	}
	b.rev++
	b.state = st.Clone()
	return b.rev, nil
}

// clusterFixture is a cluster with one crawl, whose requests may fail.
type clusterFixture struct {
	bucket
	crawl   overview.Crawl
	failing bool
	due     bool
	runs    []frontierapi.Run
	askedOf int // number of queries for runs

	unchanged crawlspec.Unchanged // how the spec treats unchanged pages

	down bool // the receiver

	seen   sync.Mutex // guards the effects of leaders
	posted []string
	log    bytes.Buffer
}

// Write adds a line to the log.
func (w *clusterFixture) Write(line []byte) (int, error) {
	w.seen.Lock()
	defer w.seen.Unlock()
	return w.log.Write(line)
}

func newClusterFixture() *clusterFixture {
	return &clusterFixture{crawl: overview.Crawl{Name: "news", State: overview.Running, CrawlStatus: frontierapi.CrawlStatus{
		Counters: frontierapi.Counters{Queued: 100, InFlight: 1, Attempts: map[messages.Class]int64{}},
	}}}
}

// leader returns a process that may lead.
func (w *clusterFixture) leader() *Watchdog {
	spec := crawlspec.Default()
	spec.Alerts.Webhook = "https://hooks.example/"
	spec.Duplicates.Unchanged = cmp.Or(w.unchanged, spec.Duplicates.Unchanged)
	return &Watchdog{
		Log:   slog.New(slog.NewTextHandler(w, nil)),
		store: &w.bucket,
		specs: func(context.Context, string) (*crawlspec.Spec, error) { return &spec, nil },
		due:   func(context.Context, string) (bool, error) { return w.due, nil },
		runs: func(context.Context, string, *crawlspec.Spec) ([]frontierapi.Run, error) {
			w.askedOf++
			return w.runs, nil
		},
		look: func(context.Context, []string) (*clusterSnapshot, error) {
			w.seen.Lock()
			defer w.seen.Unlock()
			w.crawl.Attempts = maps.Clone(w.crawl.Attempts)
			w.crawl.Attempts[messages.OK] += 20
			if w.failing {
				w.crawl.Attempts[messages.ServerError] += 20
			}
			w.crawl.Pages += 20
			o := &overview.Overview{At: time.Now(), Crawls: []overview.Crawl{w.crawl}}
			return &clusterSnapshot{Overview: o}, nil
		},
		post: func(_ context.Context, _ *crawlspec.Alerts, c *alerts.Change) error {
			w.seen.Lock()
			defer w.seen.Unlock()
			if w.down {
				return errors.New("connection refused")
			}
			w.posted = append(w.posted, fmt.Sprint(c.Phase, " ", c.Alert.Kind))
			return nil
		},
	}
}

// lead lets a leader lead for a while, and then die.
func (w *clusterFixture) lead(span time.Duration) {
	ctx, die := context.WithTimeout(context.Background(), span)
	defer die()
	w.leader().lead(ctx)
	synctest.Wait()
}

func (w *clusterFixture) want(t *testing.T, logged, posted string) {
	t.Helper()
	w.seen.Lock()
	defer w.seen.Unlock()
	var lines []string
	for line := range strings.Lines(w.log.String()) {
		if _, rest, ok := strings.Cut(line, `msg="alert `); ok && !strings.HasPrefix(rest, "was not delivered") {
			_, kind, _ := strings.Cut(rest, "alert=")
			lines = append(lines, rest[:strings.IndexByte(rest, '"')]+" "+strings.Fields(kind)[0])
		}
	}
	if got := strings.Join(lines, ", "); got != logged {
		t.Errorf("logged was %q, want %q", got, logged)
	}
	if got := strings.Join(w.posted, ", "); got != posted {
		t.Errorf("posted was %q, want %q", got, posted)
	}
}

func TestLeadersNeitherRepeatNorForget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newClusterFixture()
		w.lead(10 * time.Minute)
		w.want(t, "", "")
		w.failing = true
		w.lead(10 * time.Minute)
		w.lead(10 * time.Minute)
		w.want(t, "raised error_rate", "raised error_rate")
		w.failing = false
		w.lead(10 * time.Minute)
		w.lead(10 * time.Minute)
		w.want(t, "raised error_rate, cleared error_rate", "raised error_rate, cleared error_rate")
	})
}

// The receiver is down while alerts are raised and cleared and leaders change. When it is back, it
// gets all of the changes in order.
func TestReceiverThatIsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newClusterFixture()
		w.failing, w.down = true, true
		w.lead(10 * time.Minute)
		w.failing = false
		w.lead(20 * time.Minute)
		w.want(t, "raised error_rate, cleared error_rate", "")
		w.down = false
		w.lead(30 * time.Minute)
		w.want(t, "raised error_rate, cleared error_rate", "raised error_rate, cleared error_rate")
		if n := strings.Count(w.log.String(), "was not delivered"); n < 5 || n > 25 { // each leader starts again
			t.Errorf("tried %d times in vain", n)
		}
	})
}

// A change that cannot be delivered is dropped after about two hours.
func TestChangeIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newClusterFixture()
		w.failing, w.down = true, true
		w.lead(4 * time.Hour)
		if tried, dropped := strings.Count(w.log.String(), "was not delivered"), strings.Count(w.log.String(), "is dropped"); tried != maxTries || dropped != 1 {
			t.Errorf("tried %d times in vain, dropped %d changes", tried, dropped)
		}
	})
}

// A change that was posted while NATS was down is posted once, and recorded when NATS is back.
func TestPostedWhileTheStoreIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newClusterFixture()
		w.failing, w.down = true, true
		ctx, die := context.WithTimeout(t.Context(), 4*time.Hour)
		defer die()
		go w.leader().lead(ctx)
		time.Sleep(10 * time.Minute)
		w.bucket.mu.Lock()
		w.away = true
		w.bucket.mu.Unlock()
		w.seen.Lock()
		w.down = false
		w.seen.Unlock()
		time.Sleep(time.Hour)
		w.want(t, "raised error_rate", "raised error_rate")
		w.bucket.mu.Lock()
		w.away = false
		w.bucket.mu.Unlock()
		time.Sleep(time.Minute)
		if st, _, _ := w.Load(ctx, "news"); len(st.Outbox) != 0 || len(st.Raised()) != 1 {
			t.Errorf("what is stored is %+v", st)
		}
		w.want(t, "raised error_rate", "raised error_rate")
		die()
		synctest.Wait()
	})
}

// Two processes that both consider themselves leaders do not overwrite each other's state.
func TestTwoLeaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newClusterFixture()
		w.failing = true
		ctx, die := context.WithTimeout(t.Context(), time.Hour)
		defer die()
		var both sync.WaitGroup
		both.Go(func() { w.leader().lead(ctx) })
		time.Sleep(time.Second / 2)
		both.Go(func() { w.leader().lead(ctx) })
		both.Wait()
		w.want(t, "raised error_rate", "raised error_rate")
	})
}

// A crawl whose hosts are due is stalled; a crawl whose hosts are not due is waiting.
func TestQueuedURLsOfHostsThatWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newClusterFixture()
		w.crawl.InFlight = 0
		still := w.leader()
		look := still.look
		still.look = func(ctx context.Context, first []string) (*clusterSnapshot, error) {
			s, err := look(ctx, first)
			s.Crawls[0].Pages = 7
			return s, err
		}
		for _, due := range []bool{false, true} {
			w.due = due
			ctx, die := context.WithTimeout(t.Context(), time.Hour)
			still.lead(ctx)
			die()
			if due {
				w.want(t, "raised no_progress", "raised no_progress")
			} else {
				w.want(t, "", "")
			}
		}
	})
}

// However many crawls there are, few have their own label, and none is left out.
func TestCrawlsOfMetricsAreBounded(t *testing.T) {
	var all []overview.Crawl
	for i := range 3 * maxCrawls {
		all = append(all, overview.Crawl{Name: fmt.Sprint("c", i), CrawlStatus: frontierapi.CrawlStatus{Counters: frontierapi.Counters{Queued: int64(i), Done: 1}}})
	}
	got := bounded(all)
	if len(got) != maxCrawls+1 || got[0].Name != "c149" || got[maxCrawls].Name != otherCrawls || got[maxCrawls].Done != 2*maxCrawls {
		t.Errorf("%d crawls, the first %s, the last %s with %d", len(got), got[0].Name, got[len(got)-1].Name, got[len(got)-1].Done)
	}
	if messages.CheckCrawl(otherCrawls) == nil {
		t.Error("a crawl may have the name of the others")
	}
}

// An ended crawl of a former leader is inspected once, and then only if something happens in it.
// While one of its alerts is raised, it is inspected.
func TestEndedCrawlsAreNotLookedAtForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newClusterFixture()
		w.failing = true
		w.lead(10 * time.Minute)
		w.want(t, "raised error_rate", "raised error_rate")
		w.seen.Lock()
		w.failing, w.crawl.End = false, frontierapi.Complete
		w.seen.Unlock()
		next, looks, named := w.leader(), 0, 0
		look := next.look
		next.look = func(ctx context.Context, first []string) (*clusterSnapshot, error) {
			looks++
			s, err := look(ctx, first)
			if len(first) == 0 { // as if it were one of very many
				s.Crawls = nil
				return s, err
			}
			named++
			if len(first) != 1 || first[0] != "news" {
				t.Errorf("looked at %v", first)
			}
			return s, err
		}
		ctx, die := context.WithTimeout(t.Context(), time.Hour)
		defer die()
		next.lead(ctx)
		w.want(t, "raised error_rate, cleared error_rate", "raised error_rate, cleared error_rate")
		if named == 0 || named > 3 || looks < 100 || len(next.watched) > 0 || !next.loaded {
			t.Errorf("of %d looks %d were at it; %d crawls are remembered", looks, named, len(next.watched))
		}
	})
}

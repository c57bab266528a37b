// Package watchdog observes a cluster and reports problems: in the log, in the alerts of `seine
// status`, in metrics, and by webhooks.
//
// Every frontier runs a watchdog, and so does seine crawl. The one that holds a lease is the
// leader; the others wait for the lease. The state of each crawl is in NATS (alerts.Store), so the
// next leader continues from it.
package watchdog

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"seine/internal/base/sleep"
	"seine/internal/fetch/secrets"
	"seine/internal/ops/alerts"
	"seine/internal/ops/overview"
	"seine/internal/ops/procstats"
	"seine/internal/ops/webhook"
	"seine/internal/streams/partition"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/frontier/frontierapi"
)

// Group is the name of the lease.
const Group = "alerts"

// Watchdog is the watchdog of a process.
type Watchdog struct {
	Log *slog.Logger
	// Owner identifies the process. It is the same after a restart with the same state.
	Owner   string
	leases  *partition.Leases
	specs   func(ctx context.Context, crawl string) (*crawlspec.Spec, error)
	look    func(ctx context.Context, first []string) (*clusterSnapshot, error)
	due     func(ctx context.Context, crawl string) (bool, error)
	runs    func(ctx context.Context, crawl string, spec *crawlspec.Spec) ([]frontierapi.Run, error)
	store   store
	post    func(ctx context.Context, a *crawlspec.Alerts, c *alerts.Change) error
	watched map[string]*crawlAlerts
	loaded  bool // stored states of a former leader are loaded, except settled ones
	posted  chan posted
}

// store stores the states of alerts: alerts.Store.
type store interface {
	Load(ctx context.Context, crawl string) (alerts.State, uint64, error)
	Names(ctx context.Context) ([]string, error)
	Save(ctx context.Context, crawl string, st *alerts.State, rev uint64) (uint64, error)
}

// crawlAlerts is the leader's state of a crawl.
type crawlAlerts struct {
	state alerts.State
	rev   uint64
	rules crawlspec.Alerts
	// posting is set while the first change of the outbox is being posted; tries counts failed
	// attempts, and next is the time of the next one.
	posting bool
	tries   int
	next    time.Time
	// runs are the ended runs at the time when the crawl's run was run and its last change was
	// changed, in Unix ms; changed is 0 while the last run continues.
	runs         []alerts.Run
	run, changed int64
}

// posted is the result of one attempt to post a change.
type posted struct {
	crawl, id string
	err       error
}

// New returns the watchdog of a process without starting it.
func New(bus *stages.Bus, specs *stages.Specs, owner string, s secrets.Store) *Watchdog {
	w := &Watchdog{Log: bus.Log, Owner: owner}
	client := frontierapi.Client{Bus: bus}
	hook := alerts.Webhook{Secrets: s}
	w.specs = func(ctx context.Context, crawl string) (*crawlspec.Spec, error) {
		r, err := specs.Get(ctx, crawl, 0)
		return r.Spec, err
	}
	reader := overview.Reader{Bus: bus, Specs: specs, Most: maxCrawls} // remembers ended crawls
	w.look = func(ctx context.Context, first []string) (*clusterSnapshot, error) {
		reader.First = first
		return lookAt(ctx, &reader)
	}
	w.due, w.post = client.Due, hook.Post
	w.runs = func(ctx context.Context, crawl string, spec *crawlspec.Spec) ([]frontierapi.Run, error) {
		return client.Runs(ctx, crawl, spec, 2*alerts.MostRuns+2) // the newest run may be unfinished
	}
	w.leases = &partition.Leases{Bus: bus, Group: Group, Owner: owner, Partitions: 1, Log: bus.Log, RunPartition: func(ctx context.Context, _ int, _ uint64) error {
		st, err := alerts.OpenStore(ctx, bus)
		if err != nil {
			return nil // the server is unavailable; tried again with the next lease
		}
		w.store = st
		w.lead(ctx)
		return nil
	}}
	return w
}

// retryEvery is the wait before another attempt to take the lease after an error.
const retryEvery = 5 * time.Second

// Start runs the watchdog until stop is called or ctx is done.
func (w *Watchdog) Start(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { w.Run(ctx) })
	return func() { cancel(); running.Wait() }
}

// Run watches while this process holds the lease, until ctx is done. Its errors never stop a stage.
func (w *Watchdog) Run(ctx context.Context) {
	for ctx.Err() == nil {
		if err := w.leases.Run(ctx); err != nil && ctx.Err() == nil {
			w.Log.Warn("alerts cannot be watched here", "error", err)
			_ = sleep.For(ctx, retryEvery)
		}
	}
}

// The cluster is observed at a twentieth of the shortest period of a threshold, within these
// bounds. The interval is at least rest times the duration of an observation, which matters with
// hundreds of crawls.
const (
	minEvery = time.Second
	maxEvery = 15 * time.Second
	rest     = 5
)

// lead observes the cluster until ctx is done.
func (w *Watchdog) lead(ctx context.Context) {
	w.watched, w.loaded, w.posted = make(map[string]*crawlAlerts), false, make(chan posted, 16)
	defer figures.Store(nil)
	every := minEvery
	for ctx.Err() == nil {
		next := time.Now().Add(every)
		every = w.evaluateOnce(ctx, every)
		w.postUntil(ctx, next)
	}
}

// evaluateOnce observes the cluster once, and returns the time until the next observation.
func (w *Watchdog) evaluateOnce(ctx context.Context, every time.Duration) time.Duration {
	began := time.Now()
	seen, err := w.look(ctx, w.first(ctx))
	if err != nil {
		w.Log.Debug("cannot look at the cluster", "error", err)
		return every
	}
	next := maxEvery
	for i := range seen.Crawls {
		c := &seen.Crawls[i]
		spec, err := w.specs(ctx, c.Name)
		if err != nil {
			return every
		}
		next = min(next, Interval(&spec.Alerts))
		if err := w.evaluateCrawl(ctx, c, spec, seen, every); err != nil && ctx.Err() == nil {
			w.Log.Debug("cannot judge", "crawl", c.Name, "error", err)
		}
	}
	w.forget(seen.Crawls)
	figures.Store(w.exportedMetrics(seen))
	took := time.Since(began)
	if slices.ContainsFunc(seen.Crawls, func(c overview.Crawl) bool { return c.Problem != "" }) {
		return max(minEvery, took) // for example, a frontier has just started; most of that time was waiting
	}
	return max(next, min(rest*took, maxEvery))
}

// first returns the crawls to observe although they may be inactive: those without a known end, and
// those with an alert to clear or to post, including alerts of a former leader.
func (w *Watchdog) first(ctx context.Context) (names []string) {
	if !w.loaded {
		if err := w.load(ctx); err != nil {
			w.Log.Debug("cannot read what is known of crawls", "error", err)
		}
	}
	for name, k := range w.watched {
		if k.posting || !k.settled() {
			names = append(names, name)
		}
	}
	return names
}

// load reads all stored states.
func (w *Watchdog) load(ctx context.Context) error {
	stored, err := w.store.Names(ctx)
	for _, name := range stored {
		if err == nil {
			_, err = w.know(ctx, name)
		}
	}
	w.loaded = err == nil
	return err
}

// settled reports whether a crawl has ended and has nothing left to report.
func (k *crawlAlerts) settled() bool {
	return k.state.Over && len(k.state.Alerts)+len(k.state.Outbox) == 0
}

// forget drops the crawls that were not observed: they have ended or were deleted.
func (w *Watchdog) forget(seen []overview.Crawl) {
	there := make(map[string]bool, len(seen))
	for i := range seen {
		there[seen[i].Name] = true
	}
	maps.DeleteFunc(w.watched, func(name string, k *crawlAlerts) bool { return !there[name] && !k.posting })
}

// Interval returns the observation interval for a set of thresholds.
func Interval(a *crawlspec.Alerts) time.Duration {
	least := maxEvery
	for _, d := range []crawlspec.Duration{a.Over, a.NoProgress, a.Lag} {
		if d > 0 {
			least = min(least, time.Duration(d)/20)
		}
	}
	return max(least, minEvery)
}

// evaluateCrawl compares the observation with the thresholds of a crawl. It stores the result
// before reporting it; otherwise a report could be repeated.
func (w *Watchdog) evaluateCrawl(ctx context.Context, c *overview.Crawl, spec *crawlspec.Spec, seen *clusterSnapshot, every time.Duration) error {
	know, err := w.know(ctx, c.Name)
	if err != nil {
		return err
	}
	before := know.rules
	know.rules = spec.Alerts
	look := seen.of(c, every)
	if look.Crawl.Busy, err = w.busy(ctx, c, know); err != nil {
		look.Crawl.Unknown = err.Error()
	}
	w.learnRuns(ctx, c, spec, know)
	look.Crawl.Runs, look.Crawl.Kinds, look.Crawl.Dead = know.runs, spec.Kinds(), c.Dead
	look.Crawl.Counting = counting(spec)
	settled := know.settled()
	state := know.state.Clone()
	changes := state.Evaluate(c.Name, &spec.Alerts, look)
	if spec.Alerts.Webhook == "" {
		state.Outbox = nil
	} else {
		if before != (crawlspec.Alerts{}) && before != know.rules {
			know.tries, know.next = 0, time.Time{} // the webhook may be fixed now
		}
		if n := state.Send(changes); n > 0 {
			w.Log.Error("alerts were dropped: the webhook is too slow", "crawl", c.Name, "dropped", n)
			notified.WithLabelValues("dropped").Add(float64(n))
		}
	}
	if (settled || know.rev == 0 && state.Over) && len(state.Alerts)+len(changes) == 0 {
		know.state = state // not worth storing
		return nil
	}
	if err := w.save(ctx, c.Name, know, state); err != nil {
		return err
	}
	for i := range changes {
		w.logTransition(ctx, &changes[i])
	}
	return nil
}

// know returns the state of a crawl. It loads the stored state on the first call.
func (w *Watchdog) know(ctx context.Context, crawl string) (*crawlAlerts, error) {
	if k := w.watched[crawl]; k != nil {
		return k, nil
	}
	state, rev, err := w.store.Load(ctx, crawl)
	if err != nil {
		return nil, err
	}
	k := &crawlAlerts{state: state, rev: rev}
	w.watched[crawl] = k
	return k, nil
}

// save stores a state. If another process has changed it, it is loaded again next time.
func (w *Watchdog) save(ctx context.Context, crawl string, k *crawlAlerts, state alerts.State) error {
	rev, err := w.store.Save(ctx, crawl, &state, k.rev)
	if err != nil {
		if errors.Is(err, alerts.ErrChanged) {
			delete(w.watched, crawl)
		}
		return err
	}
	k.state, k.rev = state, rev
	return nil
}

// logTransition logs a change.
func (w *Watchdog) logTransition(ctx context.Context, c *alerts.Change) {
	log := w.Log.With("crawl", c.Alert.Crawl, "alert", c.Alert.Kind, "subject", c.Alert.Target, "text", c.Alert.Text)
	if c.Phase == alerts.Raised {
		log.WarnContext(ctx, "alert raised")
	} else {
		log.InfoContext(ctx, "alert cleared")
	}
}

// busy describes the work that the crawl could do now, "" if there is none. It asks whether a host
// is due only if the answer matters.
func (w *Watchdog) busy(ctx context.Context, c *overview.Crawl, k *crawlAlerts) (string, error) {
	switch {
	case c.Problem != "":
		return "", errors.New(c.Problem)
	case c.InFlight > 0 || c.Parsing > 0:
		return fmt.Sprintf("%d requests are in flight, %d pages are being parsed", c.InFlight, c.Parsing), nil
	case c.Queued == 0 || done(c) != k.state.Done:
		return "", nil
	}
	due, err := w.due(ctx, c.Name)
	if !due || err != nil {
		return "", err
	}
	return fmt.Sprintf("%d URLs are queued, and a host is due", c.Queued), nil
}

// postUntil posts the changes in the outboxes until a given time.
func (w *Watchdog) postUntil(ctx context.Context, until time.Time) {
	for {
		wait := time.Until(until)
		for crawl, k := range w.watched {
			rest := time.Until(k.next)
			switch {
			case k.posting, k.rules.Webhook == "", len(k.state.Outbox) == 0:
			case rest > 0:
				wait = min(wait, rest)
			default:
				k.posting = true
				go w.send(ctx, w.posted, crawl, k.rules, k.state.Outbox[0])
			}
		}
		select {
		case <-ctx.Done():
			return
		case p := <-w.posted:
			w.note(ctx, p)
		case <-time.After(wait):
			if !time.Now().Before(until) {
				return
			}
		}
	}
}

// send makes one attempt to post a change.
func (w *Watchdog) send(ctx context.Context, to chan<- posted, crawl string, rules crawlspec.Alerts, c alerts.Change) {
	err := w.post(ctx, &rules, &c)
	select {
	case to <- posted{crawl, c.ID, err}:
	case <-ctx.Done():
	}
}

// maxTries bounds the attempts to post a change before it is dropped, which takes about two hours.
// A new leader starts counting from zero.
const maxTries = 20

// note removes a delivered or abandoned change from the outbox.
func (w *Watchdog) note(ctx context.Context, p posted) {
	k := w.watched[p.crawl]
	if k == nil {
		return
	}
	k.posting = false
	if p.err == nil {
		notified.WithLabelValues("delivered").Inc()
	} else {
		notified.WithLabelValues("failed").Inc()
		w.Log.Warn("alert was not delivered", "crawl", p.crawl, "id", p.id, "error", p.err)
		if k.tries++; k.tries < maxTries {
			k.next = time.Now().Add(webhook.Wait(k.tries))
			return
		}
		notified.WithLabelValues("dropped").Inc()
		w.Log.Error("alert is dropped", "crawl", p.crawl, "id", p.id, "tries", maxTries)
	}
	k.tries, k.next = 0, time.Time{}
	state := k.state.Clone()
	state.Outbox = slices.DeleteFunc(state.Outbox, func(c alerts.Change) bool { return c.ID == p.id })
	if err := w.save(ctx, p.crawl, k, state); err != nil && ctx.Err() == nil {
		k.state = state // otherwise it would be posted again at once; the next save includes it
		w.Log.Debug("cannot note that an alert was posted", "crawl", p.crawl, "error", err)
	}
}

// done counts the ended visits of a crawl, and values that change with them.
func done(c *overview.Crawl) int64 { return c.Done + c.Failed + c.Pages + c.ExcludedURLs() }

// clusterSnapshot is one observation of a cluster.
type clusterSnapshot struct {
	*overview.Overview
	processes []procstats.Process
}

// lookTime bounds an observation of the cluster.
const lookTime = 30 * time.Second

func lookAt(ctx context.Context, r *overview.Reader) (*clusterSnapshot, error) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	s := new(clusterSnapshot)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) { s.Overview, err = r.Read(ctx); return err })
	g.Go(func() (err error) { s.processes, err = procstats.Collect(ctx, r.Bus.NC); return err })
	return s, g.Wait()
}

// of returns the observation of one crawl.
func (s *clusterSnapshot) of(c *overview.Crawl, every time.Duration) *alerts.Observation {
	look := &alerts.Observation{At: s.At, Every: every, Processes: s.processes, Crawl: alerts.Progress{
		Over: c.Problem == "" && c.End != frontierapi.NotEnded,
		Idle: c.Problem == "" && (c.State == overview.Paused || c.State == overview.Cancelled), Done: done(c),
		Blocked: c.Attempts[messages.Blocked], FailedLogins: c.FailedLogins,
	}}
	for class, n := range c.Attempts {
		if class.IsPageRequest() {
			look.Crawl.Asked += n
		}
		if class.IsFailure() {
			look.Crawl.Failed += n
		}
	}
	for _, st := range s.Stages {
		look.Stages = append(look.Stages, alerts.Stage{Name: st.Name, Waiting: st.Lag, Oldest: st.Oldest})
	}
	for _, st := range s.Streams {
		look.Streams = append(look.Streams, alerts.Stream{Name: st.Name, Bytes: int64(st.Bytes), Limit: st.Limit})
	}
	return look
}

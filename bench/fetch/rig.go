package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"seine/bench/proc"
	"seine/internal/base/sleep"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// crawl is the name of the crawl that is measured.
const crawl = "bench"

// testbed is a nats-server with the streams of Seine, and fetchers that work on them.
type testbed struct {
	*bench
	dir, url string
	web      *web
	nats     *proc.Process
	bus      *stages.Bus
	rev      uint64
	fetchers []*proc.Process
	admin    string // of the first fetcher
	fed      int
	seenWeb  int64 // requests that the web had seen before
}

// startRig starts the nats-server, and makes the streams as a frontier does.
func (b *bench) startRig(ctx context.Context, w *web) (r *testbed, err error) {
	dir, err := b.folder()
	if err != nil {
		return nil, err
	}
	before, err := w.seen()
	if err != nil {
		return nil, err
	}
	ports, err := proc.FreePorts(1)
	if err != nil {
		return nil, err
	}
	r = &testbed{bench: b, dir: dir, url: "nats://127.0.0.1:" + ports[0], web: w, seenWeb: before.Requests}
	r.nats, err = proc.Start(b.fail, dir, filepath.Join(b.bin, proc.NATSServer),
		proc.NATSArgs(b.bin, filepath.Join(dir, "nats"), ports[0])...)
	if err != nil {
		return nil, err
	}
	if err := r.provision(ctx); err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

// startTime is how long the processes may take to start.
const startTime = 30 * time.Second

func (r *testbed) provision(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	for r.bus == nil {
		bus, err := stages.Dial(r.url, "fetch-bench", log)
		if err == nil {
			r.bus = bus
		} else if sleep.For(ctx, 50*time.Millisecond) != nil {
			return fmt.Errorf("connect to NATS: %w", err)
		}
	}
	limits := messages.DefaultStreamLimits()
	limits.FetchMessages = 10_000_000 // all requests of a run: to publish them meanwhile would take time from the fetcher
	limits.PagesBytes, limits.BodiesBytes, limits.ResultsBytes = 8<<30, 4<<30, 2<<30
	if err := r.bus.Provision(ctx, messages.DefaultPartitions, limits, 1); err != nil {
		return fmt.Errorf("make the streams: %w", err)
	}
	specs, err := stages.OpenSpecs(ctx, r.bus)
	if err != nil {
		return fmt.Errorf("open specs: %w", err)
	}
	spec := crawlspec.Default()
	spec.Scope, spec.Delay, spec.Robots, spec.AllowPrivate = crawlspec.ScopeAny, 0, crawlspec.RobotsIgnore, true
	if r.rev, err = specs.Put(ctx, crawl, &spec); err != nil {
		return fmt.Errorf("store spec: %w", err)
	}
	return r.answerWanted()
}

// answerWanted tells fetchers, as a frontier does, that what another gave back is still to be done.
func (r *testbed) answerWanted() error {
	answer, err := json.Marshal(messages.ClaimReply{Granted: true})
	if err != nil {
		return fmt.Errorf("encode answer: %w", err)
	}
	_, err = r.bus.NC.Subscribe("seine.frontier."+messages.OpClaim+".*", func(m *nats.Msg) { _ = m.Respond(answer) })
	if err != nil {
		return fmt.Errorf("answer for the frontier: %w", err)
	}
	return nil
}

// addFetcher starts a fetcher.
func (r *testbed) addFetcher(args ...string) error {
	ports, err := proc.FreePorts(1)
	if err != nil {
		return err
	}
	all := []string{
		"--nats", r.url, "--listen", "127.0.0.1:" + ports[0], "--pprof", "--log-level", "warn",
		"--workers", strconv.Itoa(r.Workers), "--drain", "60s",
	}
	p, err := proc.Start(r.fail, r.dir, filepath.Join(r.bin, "fetcher"), append(append(all, args...), strings.Fields(r.FetcherArgs)...)...)
	if err != nil {
		return err
	}
	if len(r.fetchers) == 0 {
		r.admin = "http://127.0.0.1:" + ports[0]
	}
	r.fetchers = append(r.fetchers, p)
	return nil
}

// drain stops the fetchers, which finish what they hold.
func (r *testbed) drain() {
	var all sync.WaitGroup
	for _, p := range r.fetchers {
		all.Go(func() { p.Stop(true) })
	}
	all.Wait()
	r.fetchers = nil
}

// close ends everything at once.
func (r *testbed) close() {
	for _, p := range r.fetchers {
		p.Stop(false)
	}
	if r.bus != nil {
		r.bus.Close()
	}
	r.nats.Stop(false)
	_ = os.RemoveAll(filepath.Join(r.dir, "nats"))
}

// costs are what the processes have used so far.
type costs struct {
	at                       time.Time
	pages                    uint64  // that are stored
	fetchers, nats, web, own float64 // seconds of CPU
	all                      float64 // of everything on the machine
}

func (r *testbed) costs(ctx context.Context) (c costs, err error) {
	if c.pages, err = r.stored(ctx, messages.StreamPages); err != nil {
		return c, err
	}
	c.at = time.Now()
	add := func(to *float64, pid int) {
		var used float64
		if err == nil {
			used, err = proc.CPU(pid)
		}
		*to += used
	}
	for _, p := range r.fetchers {
		add(&c.fetchers, p.PID())
	}
	add(&c.nats, r.nats.PID())
	add(&c.web, r.web.pid())
	add(&c.own, os.Getpid())
	if err == nil {
		c.all, err = proc.Busy()
	}
	return c, err
}

// stored is how many messages a stream has taken.
func (r *testbed) stored(ctx context.Context, stream string) (uint64, error) {
	s, err := r.bus.JS.Stream(ctx, stream)
	if err != nil {
		return 0, fmt.Errorf("get info of stream %s: %w", stream, err)
	}
	return s.CachedInfo().State.LastSeq, nil
}

// window is what happened in a stretch of time.
type window struct {
	seconds, pages           float64
	fetchers, nats, web, own float64 // µs of CPU for a page
	others                   float64 // cores that were busy with something else
	rss                      int64   // of the first fetcher, at its largest in the window
}

func (w window) rate() float64 { return w.pages / w.seconds }

func between(a, b costs) window {
	w := window{seconds: b.at.Sub(a.at).Seconds(), pages: float64(b.pages - a.pages)}
	each := func(before, after float64) float64 { return (after - before) / math.Max(1, w.pages) * 1e6 }
	w.fetchers, w.nats = each(a.fetchers, b.fetchers), each(a.nats, b.nats)
	w.web, w.own = each(a.web, b.web), each(a.own, b.own)
	w.others = math.Max(0, (b.all-a.all)/w.seconds-(w.fetchers+w.nats+w.web+w.own)*w.pages/w.seconds/1e6)
	return w
}

// lookEvery is how often the memory is looked at, and pages are thrown away.
const lookEvery = 200 * time.Millisecond

// measure watches the fetchers for the time of a window, once they are warm.
func (r *testbed) measure(ctx context.Context) (w window, err error) {
	if err := r.sampleFor(ctx, r.Warmup, nil); err != nil {
		return w, err
	}
	before, err := r.costs(ctx)
	if err != nil {
		return w, err
	}
	profiled := make(chan error, 1)
	go func() {
		profiled <- r.profile(ctx, r.CPUProfile, fmt.Sprintf("profile?seconds=%.0f", r.Window.Seconds()))
	}()
	var rss int64
	if err := r.sampleFor(ctx, r.Window, &rss); err != nil {
		return w, err
	}
	after, err := r.costs(ctx)
	if err != nil {
		return w, err
	}
	if err := <-profiled; err != nil {
		return w, err
	}
	if err := r.profile(ctx, r.HeapProfile, "heap"); err != nil {
		return w, err
	}
	w = between(before, after)
	w.rss = rss
	return w, r.checkFed(ctx)
}

// sampleFor lets time pass, and finds the largest resident set of the first fetcher meanwhile.
func (r *testbed) sampleFor(ctx context.Context, d time.Duration, rss *int64) error {
	for end := time.Now().Add(d); time.Now().Before(end); {
		now, _, err := proc.Memory(r.fetchers[0].PID())
		if err != nil {
			return err
		}
		if rss != nil {
			*rss = max(*rss, now)
		}
		if err := r.discard(ctx); err != nil {
			return err
		}
		if err := sleep.For(ctx, min(lookEvery, max(0, time.Until(end)))); err != nil {
			return err
		}
	}
	return nil
}

// keepBytes is how much of the bodies may pile up, before they are thrown away as if they had been parsed.
const keepBytes = 1 << 30

func (r *testbed) discard(ctx context.Context) error {
	for _, name := range []string{messages.StreamPages, "OBJ_" + messages.BucketBodies} {
		s, err := r.bus.JS.Stream(ctx, name)
		if err == nil && s.CachedInfo().State.Bytes > keepBytes {
			err = s.Purge(ctx)
		}
		if err != nil {
			return fmt.Errorf("discard pages: %w", err)
		}
	}
	return nil
}

// profile writes what the first fetcher serves under a name, unless file is "".
func (r *testbed) profile(ctx context.Context, file, name string) error {
	if file == "" {
		return nil
	}
	text, err := proc.Get(ctx, r.admin+"/debug/pprof/"+name)
	if err != nil {
		return fmt.Errorf("take a profile: %w", err)
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return fmt.Errorf("write profile: %w", err)
	}
	return nil
}

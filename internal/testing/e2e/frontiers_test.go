package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/testing/testweb"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/frontier/frontierapi"
)

// fleet is a cluster with several frontiers, with observations about the owner of each partition.
type fleet struct {
	*cluster
	bus    *stages.Bus
	client *frontierapi.Client
	args   []string
	fronts []*process
	leases *leaseLog
	began  time.Time
}

// frontArgs let frontiers share partitions. The streams keep no messages that were read, so that a
// takeover needs the snapshot.
var frontArgs = []string{"--partitions-owned", "fair", "--snapshot-every", "1s", "--keep-share", "0"}

// newFleet starts a cluster with n frontiers and returns when each has its share.
func newFleet(t *testing.T, n int, s shape) *fleet {
	t.Helper()
	s.frontierArgs = append(s.frontierArgs, frontArgs...)
	f := &fleet{cluster: newCluster(t, s), args: s.frontierArgs, began: time.Now()}
	f.bus = f.cluster.bus()
	f.client = &frontierapi.Client{Bus: f.bus}
	f.fronts = []*process{f.front}
	f.leases = watchLeases(t, f.bus)
	for range n - 1 {
		f.join()
	}
	for _, p := range f.fronts {
		f.awaitShare(p, f.bus.Layout.Partitions/n)
	}
	return f
}

// join starts another frontier with its own store.
func (f *fleet) join() *process {
	f.t.Helper()
	state := filepath.Join(f.dir, fmt.Sprint("frontier", len(f.fronts)))
	p := f.stage("frontier", append([]string{"--state", state}, f.args...)...)
	f.fronts = append(f.fronts, p)
	return p
}

// state is the directory of a frontier's store.
func state(p *process) string { return p.args[slices.Index(p.args, "--state")+1] }

// owner returns the identity of a frontier's store, "" before it has one.
func owner(p *process) string {
	b, err := os.ReadFile(filepath.Join(state(p), "IDENTITY"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

func (f *fleet) awaitShare(p *process, n int) {
	f.t.Helper()
	eventually(f.t, 30*time.Second, "give a frontier its share", func() (bool, string) {
		own := f.leases.of(owner(p))
		return len(own) >= n, fmt.Sprintf("%d of %d partitions, %v", len(own), n, own)
	}, p)
}

// at formats a time relative to the start of the test.
func (f *fleet) at(t time.Time) string { return fmt.Sprintf("%6.2fs", t.Sub(f.began).Seconds()) }

// leaseLog records the writes to the lease bucket.
type leaseLog struct {
	mu     sync.Mutex
	events []leaseEvent
}

// leaseEvent is a write to the lease of a partition; without an owner the lease was released.
type leaseEvent struct {
	partition  int
	owner, run string
	at         time.Time
}

func watchLeases(t *testing.T, bus *stages.Bus) *leaseLog {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	kv, err := bus.JS.KeyValue(ctx, messages.BucketLeases)
	if err != nil {
		t.Fatal(err)
	}
	w, err := kv.Watch(context.Background(), "lease.frontier.*")
	if err != nil {
		t.Fatal(err)
	}
	l := new(leaseLog)
	var reading sync.WaitGroup
	reading.Go(func() {
		for e := range w.Updates() {
			if e != nil {
				l.note(e)
			}
		}
	})
	t.Cleanup(func() { _ = w.Stop(); reading.Wait() })
	return l
}

func (l *leaseLog) note(e jetstream.KeyValueEntry) {
	p, err := strconv.Atoi(strings.TrimPrefix(e.Key(), "lease.frontier."))
	if err != nil {
		return
	}
	var v struct{ Owner, Run string }
	if e.Operation() == jetstream.KeyValuePut && json.Unmarshal(e.Value(), &v) != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, leaseEvent{p, v.Owner, v.Run, e.Created()})
}

// of returns the partitions whose lease was last written by an owner.
func (l *leaseLog) of(owner string) (ps []int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	last := make(map[int]string)
	for _, e := range l.events {
		last[e.partition] = e.owner
	}
	for p, o := range last {
		if o == owner && o != "" {
			ps = append(ps, p)
		}
	}
	slices.Sort(ps)
	return ps
}

// move is a partition that got another owner, or another run of the same owner.
type move struct {
	partition int
	last      leaseEvent // of the previous owner, or its release
	next      leaseEvent // the first of the new owner
}

// moves returns the partitions that moved after a time.
func (l *leaseLog) moves(since time.Time) (ms []move) {
	l.mu.Lock()
	defer l.mu.Unlock()
	last := make(map[int]leaseEvent)
	run := make(map[int]string)
	for _, e := range l.events {
		if e.run != "" && run[e.partition] != e.run {
			if before, known := last[e.partition]; known && e.at.After(since) {
				ms = append(ms, move{e.partition, before, e})
			}
			run[e.partition] = e.run
		}
		last[e.partition] = e
	}
	return ms
}

// manyHosts is a web with many hosts and the expected output of a crawl.
type manyHosts struct {
	*testweb.Web
	server *testweb.Server
	pages  []string
}

func serveHosts(t *testing.T, cfg testweb.Config) *manyHosts {
	t.Helper()
	w := &manyHosts{Web: testweb.New(cfg)}
	w.server = testweb.Run(t, w.Web)
	for h := range w.Hosts() {
		for _, p := range w.Pages(h) {
			w.pages = append(w.pages, w.server.URL(h, p))
		}
	}
	return w
}

// partition returns the partition of a host's URLs.
func (m *manyHosts) partition(host string) int {
	return messages.Partition("http://"+host+"/", messages.DefaultPartitions)
}

// repeats counts the repeated requests for pages.
func (m *manyHosts) repeats() (n int, which []string) {
	seen := make(map[string]int)
	for _, r := range m.Requests() {
		if r.Path == "/robots.txt" {
			continue
		}
		key := r.Host + r.Path
		if seen[key]++; seen[key] > 1 {
			n++
			which = append(which, key)
		}
	}
	return n, which
}

// asked waits until each of the partitions had a request under its new owner. It prints the delays
// since the event, and how long each partition had no owner.
func (f *fleet) asked(w *manyHosts, what string, since time.Time, partitions []int) {
	f.t.Helper()
	firsts := make(map[int]time.Duration)
	eventually(f.t, time.Minute, "go on with the partitions that moved", func() (bool, string) {
		moved := make(map[int]time.Time)
		for _, m := range f.leases.moves(since) {
			moved[m.partition] = m.next.at
		}
		clear(firsts)
		for _, r := range w.Log().Select(func(r *testweb.Request) bool { return r.At.After(since) }) {
			p := w.partition(r.Host)
			at, ok := moved[p]
			if _, known := firsts[p]; ok && !known && r.At.After(at) {
				firsts[p] = r.At.Sub(since)
			}
		}
		for _, p := range partitions {
			if _, ok := firsts[p]; !ok {
				return false, fmt.Sprintf("partition %d was not asked; moved %v", p, slices.Sorted(maps.Keys(moved)))
			}
		}
		return true, ""
	}, f.living()...)
	var free, first, quiet []time.Duration
	for _, m := range f.leases.moves(since) {
		if slices.Contains(partitions, m.partition) {
			free = append(free, m.next.at.Sub(m.last.at))
		}
	}
	for _, p := range partitions {
		first = append(first, firsts[p])
		quiet = append(quiet, w.longestPause(p, since.Add(-2*time.Second)))
	}
	f.t.Logf("%s %s, partitions %v: from there to the first request by the new owner %s; lease free or not renewed for %s; longest time without a request %s",
		f.at(since), what, partitions, spread(first), spread(free), spread(quiet))
}

// longestPause returns the longest time without a request to any host of a partition.
func (m *manyHosts) longestPause(p int, since time.Time) (longest time.Duration) {
	var last time.Time
	for _, r := range m.Log().Select(func(r *testweb.Request) bool { return r.At.After(since) }) {
		if m.partition(r.Host) != p {
			continue
		}
		if !last.IsZero() {
			longest = max(longest, r.At.Sub(last))
		}
		last = r.At
	}
	return longest
}

func spread(ds []time.Duration) string {
	if len(ds) == 0 {
		return "none"
	}
	slices.Sort(ds)
	round := func(d time.Duration) time.Duration { return d.Round(time.Millisecond) }
	return fmt.Sprintf("%v to %v", round(ds[0]), round(ds[len(ds)-1]))
}

// checkGaps checks the requests that each host saw during the whole test.
func (f *fleet) checkGaps(w *manyHosts, delay time.Duration) {
	f.t.Helper()
	least, bad := time.Hour, 0
	for h := range w.Hosts() {
		rs := w.RequestsTo(h)
		least = min(least, w.MinGap(h))
		for i := range len(rs) - 1 {
			gap := testweb.MinGap(rs[i : i+2])
			if gap >= delay {
				continue
			}
			if bad++; bad <= 10 {
				f.t.Errorf("%s (partition %d) at %s: %v after the end of %s came %s, want at least %v",
					w.Name(h), w.partition(w.Name(h)), f.at(rs[i+1].At), gap, rs[i].Path, rs[i+1].Path, delay)
			}
		}
	}
	f.t.Logf("the smallest gap of %d hosts was %v, the delay is %v; %d gaps too small", w.Hosts(), least, delay, bad)
}

// living returns the processes that should run.
func (f *fleet) living() (ps []*process) {
	for _, p := range append(slices.Concat(f.fronts, f.fetch, f.parse), f.write...) {
		select {
		case <-p.gone:
		default:
			ps = append(ps, p)
		}
	}
	return ps
}

// end waits for the end of the crawl, drains all stages, and waits for the output.
func (f *fleet) end(crawl string, spec *crawlspec.Spec, want frontierapi.EndReason) frontierapi.Counters {
	f.t.Helper()
	var last frontierapi.Counters
	living := f.living()
	eventually(f.t, 8*time.Minute, "end the crawl", func() (bool, string) {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		end, n, err := f.client.CheckEnded(ctx, crawl, spec)
		if err != nil {
			return false, err.Error()
		}
		last = n.Counters
		if end != frontierapi.NotEnded && end != want {
			f.t.Fatalf("the crawl ended as %s, want %s: %+v", end, want, last)
		}
		return end == want, fmt.Sprintf("%+v", n)
	}, living...)
	for _, p := range living {
		if p.name != "writer" {
			p.drain()
		}
	}
	eventually(f.t, time.Minute, "commit every record", func() (bool, string) {
		var n int64
		commits, err := readCommits(f.out(), "default")
		for _, c := range commits {
			for _, file := range c.Files {
				n += int64(file.Records)
			}
		}
		return err == nil && n >= last.Pages, fmt.Sprintf("%d of %d records, %v", n, last.Pages, err)
	}, f.write...)
	for _, p := range f.write {
		p.drain()
	}
	return last
}

// Of three frontiers, one is killed, one joins, one loses its disk, one is killed and restarted,
// and one is frozen until it has lost its leases. No URL is lost or repeated, and no host notices.
func TestFrontiersTakeOverFromEachOther(t *testing.T) {
	t.Parallel()
	const hosts, delay = 96, 300 * time.Millisecond
	web := serveHosts(t, testweb.Config{Hosts: hosts, PagesPerHost: 130, LinksPerPage: 8, CrossHostLinks: 0.2, PageBytes: 4 << 10})
	f := newFleet(t, 3, shape{fetchers: 2})
	spec := crawlspec.Default()
	spec.Delay, spec.AllowPrivate = crawlspec.Duration(delay), true
	f.cluster.begin(f.bus, "many", &spec, seedsOf(web.server, hosts)...)
	served := func(n int) {
		t.Helper()
		n += len(web.Requests())
		eventually(t, time.Minute, "fetch pages", func() (bool, string) { return len(web.Requests()) >= n, fmt.Sprint(len(web.Requests())) }, f.living()...)
	}
	served(6 * hosts)
	third := messages.DefaultPartitions / 3
	unclean := 0 // requests that were in flight when a frontier had no time to finish: at most one per host
	affected := func(ps []int) []int {
		for h := range hosts {
			if slices.Contains(ps, web.partition(web.Name(h))) {
				unclean++
			}
		}
		return ps
	}

	now, lost := time.Now(), affected(f.leases.of(owner(f.fronts[1])))
	f.fronts[1].kill()
	f.asked(web, "killed", now, lost)

	now = time.Now()
	fourth := f.join()
	f.awaitShare(fourth, third)
	f.asked(web, "joined", now, f.leases.of(owner(fourth)))
	served(hosts)

	now, lost = time.Now(), f.leases.of(owner(f.fronts[2]))
	f.fronts[2].drain()
	f.asked(web, "drained", now, lost)
	if err := os.RemoveAll(state(f.fronts[2])); err != nil {
		t.Fatal(err)
	}
	now = time.Now()
	f.fronts[2].start()
	f.awaitShare(f.fronts[2], third)
	f.asked(web, "came back without its disk", now, f.leases.of(owner(f.fronts[2])))
	served(hosts)

	now, lost = time.Now(), affected(f.leases.of(owner(f.fronts[0])))
	f.fronts[0].kill()
	f.fronts[0].start()
	f.asked(web, "killed and started again", now, lost)
	served(hosts)

	now, lost = time.Now(), affected(f.leases.of(owner(fourth)))
	fourth.signal(syscall.SIGSTOP)
	f.asked(web, "frozen", now, lost)
	fourth.signal(syscall.SIGCONT)
	f.awaitShare(fourth, third)
	served(hosts)
	if n := len(web.Requests()); n > len(web.pages)*19/20 {
		t.Errorf("%d of %d requests were made before the last trouble: the web is too small for this test", n, len(web.pages))
	}

	n := f.end("many", &spec, frontierapi.Complete)
	rs := records(t, f.out(), "many")
	wantPages(t, rs, web.pages)
	if n.Pages != int64(len(web.pages)) || n.Pending() != 0 {
		t.Errorf("%d pages counted, want %d: %+v", n.Pages, len(web.pages), n)
	}
	f.checkGaps(web, delay)
	repeated, which := web.repeats()
	t.Logf("%d requests, %d pages, %d fetched again, of at most %d: %v", len(web.Requests()), len(web.pages), repeated, unclean, which[:min(5, len(which))])
	if repeated > unclean {
		t.Errorf("%d pages were fetched again, more than the %d that can have been under way", repeated, unclean)
	}
}

// Three frontiers share the limit of a crawl and meet it exactly, however the partitions move.
func TestFrontiersMeetMaxPagesTogether(t *testing.T) {
	const hosts, limit = 64, 1501
	web := serveHosts(t, testweb.Config{Hosts: hosts, PagesPerHost: 60, LinksPerPage: 8, CrossHostLinks: 0.2, PageBytes: 4 << 10})
	f := newFleet(t, 3, shape{fetchers: 2})
	spec := crawlspec.Default()
	spec.Delay, spec.AllowPrivate, spec.MaxPages = crawlspec.Duration(100*time.Millisecond), true, limit
	f.cluster.begin(f.bus, "limit", &spec, seedsOf(web.server, hosts)...)
	eventually(t, time.Minute, "fetch pages", func() (bool, string) { return len(web.Requests()) > limit/4, "" }, f.living()...)
	f.fronts[1].kill()
	f.fronts[1].start()
	fourth := f.join()
	eventually(t, time.Minute, "fetch more pages", func() (bool, string) { return len(web.Requests()) > limit/2, "" }, f.living()...)
	f.fronts[2].drain()
	f.awaitShare(fourth, messages.DefaultPartitions/3)
	n := f.end("limit", &spec, frontierapi.PagesLimit)
	rs := records(t, f.out(), "limit")
	wantPages(t, rs, urlsOf(rs)) // each once
	fetched := make(map[string]bool)
	for _, r := range web.Requests() {
		if r.Path != "/robots.txt" && r.Status == 200 {
			fetched[r.Host+r.Path] = true
		}
	}
	if n.Pages != limit || len(rs) != limit || len(fetched) != limit {
		t.Errorf("%d pages counted, %d records, %d fetched, want %d", n.Pages, len(rs), len(fetched), limit)
	}
	repeated, which := web.repeats()
	t.Logf("%d requests, %d fetched again: %v", len(web.Requests()), repeated, which)
}

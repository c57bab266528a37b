package frontier

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/frontier/state"
	"seine/internal/streams/partition"
	"seine/internal/testing/await"
	"seine/internal/testing/natstest"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/frontier/frontierapi"
)

// How partition 0 moves from one store to another, on a real server. The tests assign the epochs,
// and play fetcher and parser.

// maxWait bounds every wait of these tests; a passing test needs far less.
const maxWait = 20 * time.Second

type takeoverFixture struct {
	t     *testing.T
	bus   *stages.Bus
	specs *stages.Specs
	fetch jetstream.Consumer
	log   *await.Log
	// lostPageAfter is that of the frontiers, 0 for the default.
	lostPageAfter time.Duration
}

func newTakeoverFixture(t *testing.T) *takeoverFixture {
	t.Helper()
	srv := natstest.Start(t, natstest.Listening(t))
	a := &takeoverFixture{t: t, log: new(await.Log)}
	var err error
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("log:\n%s", a.log)
		}
	})
	a.bus, err = stages.Dial(srv.ClientURL(), t.Name(), a.log.Logger())
	a.must(err)
	t.Cleanup(a.bus.Close)
	a.must(Provision(t.Context(), a.config(time.Hour), a.bus))
	// A request that is sent twice must be noticed, so JetStream must not drop the second.
	fetch, err := a.bus.JS.Stream(t.Context(), messages.StreamFetch)
	a.must(err)
	a.shortDedup(fetch)
	a.fetch, err = a.bus.JS.CreateOrUpdateConsumer(t.Context(), messages.StreamFetch, messages.WorkConsumer(messages.ConsumerFetch, "seine.fetch.*.*", 1000))
	a.must(err)
	var stop func()
	a.specs, stop, err = stages.FollowSpecs(t.Context(), a.bus)
	a.must(err)
	t.Cleanup(stop)
	spec := crawlspec.Default()
	spec.Delay, spec.PerHost, spec.Domains = 0, 1, []string{"test"}
	_, err = a.specs.Put(t.Context(), "c", &spec)
	a.must(err)
	return a
}

// shortDedup makes a stream forget message identities after a short time.
func (t *takeoverFixture) shortDedup(s jetstream.Stream) {
	t.t.Helper()
	c := s.CachedInfo().Config
	c.Duplicates = 100 * time.Millisecond
	_, err := t.bus.JS.UpdateStream(t.t.Context(), c)
	t.must(err)
}

func (t *takeoverFixture) config(snapshotEvery time.Duration) Config {
	cfg := DefaultConfig()
	cfg.Partitions, cfg.SnapshotEvery, cfg.Cache = 2, crawlspec.Duration(snapshotEvery), 1<<20
	return cfg
}

func (t *takeoverFixture) must(err error) {
	t.t.Helper()
	if err != nil {
		t.t.Fatal(err)
	}
}

func (t *takeoverFixture) eventually(what string, ok func() bool) {
	t.t.Helper()
	await.Eventually(t.t, what, ok)
}

func (t *takeoverFixture) store() *state.Store {
	t.t.Helper()
	s, err := state.OpenStore(t.t.TempDir(), 1<<20, state.SyncOS, nil, t.bus.Log)
	t.must(err)
	t.t.Cleanup(func() { _ = s.Close() })
	return s
}

// frontier returns a frontier on a store, which does nothing by itself.
func (t *takeoverFixture) frontier(s *state.Store, snapshotEvery time.Duration) *Frontier {
	t.t.Helper()
	f, err := New(t.config(snapshotEvery), t.bus, t.specs, s)
	t.must(err)
	f.lostPageAfter = cmp.Or(t.lostPageAfter, f.lostPageAfter)
	return f
}

// ownerRun is the ownership of the partition by a store.
type ownerRun struct {
	a    *takeoverFixture
	end  context.CancelCauseFunc
	done chan struct{}
	err  error
}

// own makes a store the owner of the partition.
func (t *takeoverFixture) own(s *state.Store, epoch uint64, snapshotEvery time.Duration) *ownerRun {
	t.t.Helper()
	f := t.frontier(s, snapshotEvery)
	ctx, end := context.WithCancelCause(context.Background())
	o := &ownerRun{a: t, end: end, done: make(chan struct{})}
	var serving sync.WaitGroup
	serving.Go(func() { _ = f.serve(ctx) })
	go func() {
		defer close(o.done)
		o.err = f.leases.RunPartition(ctx, 0, epoch)
		end(nil)
		serving.Wait()
	}()
	t.t.Cleanup(func() { end(nil); <-o.done })
	return o
}

// die ends the ownership like a crash: nothing is saved for the next owner.
func (o *ownerRun) die() error { o.end(nil); return o.wait() }

// handOver ends the ownership in an orderly way.
func (o *ownerRun) handOver() {
	o.a.t.Helper()
	o.end(partition.ErrRebalanced)
	o.a.must(o.wait())
}

func (o *ownerRun) wait() error {
	o.a.t.Helper()
	select {
	case <-o.done:
	case <-time.After(maxWait):
		o.a.t.Fatal("an owner does not end")
	}
	return o.err
}

func (t *takeoverFixture) publish(subject, id string, data []byte) {
	t.t.Helper()
	m := nats.NewMsg(subject)
	m.Data = data
	if id != "" {
		m.Header.Set(nats.MsgIdHdr, id)
	}
	_, err := t.bus.JS.PublishMsg(t.t.Context(), m)
	t.must(err)
}

func (t *takeoverFixture) found(c messages.Candidates, urls ...string) {
	t.t.Helper()
	c.Crawl = "c"
	for _, u := range urls {
		c.URLs = append(c.URLs, messages.Candidate{URL: u})
	}
	t.publish(messages.SubjectURLs(c.Source, "c", 0), "", c.Encode())
}

func (t *takeoverFixture) seed(urls ...string) {
	t.t.Helper()
	t.found(messages.Candidates{Source: messages.SourceSeed}, urls...)
}

// hosts returns names of hosts in partition 0.
func hosts(n int) (names []string) {
	for i := 0; len(names) < n; i++ {
		if name := fmt.Sprintf("h%d.test", i); messages.Partition("http://"+name+"/", 2) == 0 {
			names = append(names, name)
		}
	}
	return names
}

// fetchTask is a request that a fetcher holds.
type fetchTask struct {
	*messages.Request
	a *takeoverFixture
	m jetstream.Msg
}

// take gets n requests from FETCH.
func (t *takeoverFixture) take(n int) (es []*fetchTask) {
	t.t.Helper()
	// One pull: a message that arrives after the end of a pull is redelivered only after AckWait.
	batch, err := t.fetch.Fetch(n, jetstream.FetchMaxWait(maxWait))
	t.must(err)
	for m := range batch.Messages() {
		req, err := messages.DecodeRequest(m.Data())
		t.must(err)
		es = append(es, &fetchTask{req, t, m})
	}
	if len(es) < n {
		t.t.Fatalf("%d requests came, want %d: %v", len(es), n, batch.Error())
	}
	return es
}

// none checks that no other request arrives for a while.
func (t *takeoverFixture) none() {
	t.t.Helper()
	m, err := t.fetch.Next(jetstream.FetchMaxWait(500 * time.Millisecond))
	if err == nil {
		t.t.Errorf("this was sent, want nothing: %s", m.Data())
	}
}

// ends reports the result of the request, like a fetcher.
func (t *fetchTask) ends(class messages.Class) {
	t.a.t.Helper()
	res := messages.Result{
		Crawl: t.Crawl, URL: t.URL, Visit: t.Visit, Attempt: t.Attempt, Class: class, Started: time.Now(),
		Timings: messages.Timings{Total: messages.Millis(7 * time.Millisecond)}, BytesWire: 1000, BytesBody: 3000,
	}
	if class == messages.OK {
		res.Status, res.ETag = 200, `"`+t.Visit.URL.String()+`"`
		res.Digest = strings.Repeat("ab", 16)
	}
	t.a.publish(messages.SubjectResults("c", 0), res.ID(), res.Encode())
	t.a.must(t.m.DoubleAck(t.a.t.Context()))
}

// parsed ends the visit, like a parser.
func (t *fetchTask) parsed(links ...string) {
	t.a.t.Helper()
	t.a.found(messages.Candidates{Source: messages.SourceLink, Referrer: t.URL, Depth: t.Depth + 1, Ends: t.Visit}, links...)
}

// status returns the status of the crawl in the partition; ok is false while nobody answers.
func (t *takeoverFixture) status() (st frontierapi.PartitionStatus, ok bool) {
	ctx, cancel := context.WithTimeout(t.t.Context(), 500*time.Millisecond)
	defer cancel()
	st, err := (&frontierapi.Client{Bus: t.bus}).Partition(ctx, "c", 0)
	return st, err == nil
}

// settled waits until an owner has applied everything in the streams, has nothing to retry soon,
// and has the sequences of its requests in its store.
func (t *takeoverFixture) settled(s *state.Store) {
	t.t.Helper()
	t.eventually("the owner has applied everything", func() bool {
		st, ok := t.status()
		if !ok || st.Owner != s.ID || st.Counters.Waiting > 0 || st.Reviewing {
			return false
		}
		for stream, subject := range map[string]string{
			messages.StreamURLs: messages.SubjectAny("*", 0), messages.StreamResults: messages.SubjectAny("*", 0),
		} {
			last, err := t.bus.LastSequence(t.t.Context(), stream, subject)
			if err != nil || last > st.Positions[stream].Sequence {
				return false
			}
		}
		for _, url := range t.dump(s, 'U') {
			if strings.Contains(url, "State:in_flight") && strings.Contains(url, "FetchSeq:0 ") {
				return false
			}
		}
		return true
	})
}

// dump returns the records of partition 0 in a store, a line for each key, in order; only those of
// some kinds, if any are named. It omits times and the order of arrival, since another owner
// applies the same messages later: two owners with the same state have the same lines.
func (t *takeoverFixture) dump(s *state.Store, kinds ...byte) (all []string) {
	t.t.Helper()
	arrivals := make(map[string]int)
	t.must(s.Records(0, func(kind byte, key string, record any) {
		if len(kinds) > 0 && !slices.Contains(kinds, kind) {
			return
		}
		if line := t.describe(kind, key, record, arrivals); line != "" {
			all = append(all, string(kind)+" "+line)
		}
	}))
	return all
}

func (t *takeoverFixture) describe(kind byte, key string, record any, arrivals map[string]int) string {
	v := reflect.Indirect(reflect.ValueOf(record))
	switch kind {
	case 'K', 'R': // times; entries that were overtaken stay until they are due
		return ""
	case 'T': // time, host
		return key[8:]
	case 'Q': // host, crawl, priority, depth, arrival, hash
		host, rest, _ := strings.Cut(key, "\x00")
		_, place, _ := strings.Cut(rest, "\x00")
		arrivals[host]++
		return fmt.Sprintf("%s %d. %x", host, arrivals[host], place[:3]+place[11:])
	case 'U':
		for _, name := range []string{"Arrival", "Due", "Changed"} {
			v.FieldByName(name).SetZero()
		}
		for i := range v.FieldByName("History").Len() {
			v.FieldByName("History").Index(i).FieldByName("At").SetZero()
		}
		metadata := fmt.Sprintf("%+v", reflect.Indirect(v.FieldByName("Metadata")))
		v.FieldByName("Metadata").SetZero()
		return fmt.Sprintf("%+v %s", v, metadata)
	case 'H':
		line := fmt.Sprintf("%q %q %+v", key, v.FieldByName("ip"), v.FieldByName("stats"))
		for i := range v.FieldByName("work").Len() {
			w := v.FieldByName("work").Index(i).Elem()
			line += fmt.Sprintf(" %s: %v queued, %v pages, parked %v", w.FieldByName("crawl"), w.FieldByName("queued"), w.FieldByName("pages"), w.FieldByName("parked"))
		}
		return line
	case 'C', 'r':
		text, isText := record.(string)
		if !isText {
			text = string(record.(interface{ Encode([]byte) []byte }).Encode(nil))
		}
		var members map[string]any
		t.must(json.Unmarshal([]byte(text), &members))
		for _, name := range []string{"started", "changed", "last"} {
			delete(members, name)
		}
		return fmt.Sprintf("%q=%v", key, members)
	}
	return fmt.Sprintf("%q=%s", key, record)
}

// wantSame checks that two stores have the same records of partition 0.
func (t *takeoverFixture) wantSame(got, want *state.Store) {
	t.t.Helper()
	g, w := t.dump(got), t.dump(want)
	for _, line := range g {
		if !slices.Contains(w, line) {
			t.t.Errorf("only the new owner has %s", line)
		}
	}
	for _, line := range w {
		if !slices.Contains(g, line) {
			t.t.Errorf("only the old owner has %s", line)
		}
	}
	if len(w) < 50 {
		t.t.Errorf("only %d keys were compared", len(w))
	}
}

// live plays a crawl for a while: n requests, with all kinds of results.
func (t *takeoverFixture) live(n int, page string) {
	t.t.Helper()
	endings := []messages.Class{
		messages.OK, messages.ServerError, messages.OK, messages.RobotsFetched, messages.Gone, messages.OK, messages.Redirect,
		messages.RobotsDenied, messages.ConnectFailure, messages.OK, messages.ClientError,
	}
	names := hosts(12)
	for i := range n {
		e := t.take(1)[0]
		class := endings[i%len(endings)]
		links := []string{
			fmt.Sprintf("http://%s/%s%d", names[i%len(names)], page, i), fmt.Sprintf("http://%s/%s%d", names[(i+5)%len(names)], page, i),
			fmt.Sprintf("http://%s/%s", names[(i+1)%len(names)], page),
		}
		switch {
		case class == messages.OK && i%2 == 0: // the end of the visit may be applied before its result
			e.parsed(links...)
			e.ends(class)
		case class == messages.OK:
			e.ends(class)
			e.parsed(links...)
		case class == messages.Redirect:
			t.found(messages.Candidates{Source: messages.SourceRedirect, Referrer: e.URL, Depth: e.Depth, Redirects: 1}, links[0])
			e.ends(class)
		default:
			e.ends(class)
		}
	}
}

func (t *takeoverFixture) seedHosts(n int) {
	t.t.Helper()
	var urls []string
	for _, h := range hosts(n) {
		urls = append(urls, "http://"+h+"/", "http://"+h+"/2", "http://"+h+"/3", "http://"+h+"/4")
	}
	t.seed(urls...)
}

func TestNewOwnerHasTheSameStateFromSnapshotAndStreams(t *testing.T) {
	t.Parallel()
	a := newTakeoverFixture(t)
	first, second := a.store(), a.store()
	owner := a.own(first, 1, time.Hour)
	a.seedHosts(12)
	a.live(40, "before")
	owner.handOver() // the snapshot is made here
	owner = a.own(first, 2, time.Hour)
	a.live(60, "after")
	a.settled(first)
	a.must(owner.die())
	before := lastOf(t, a, messages.StreamFetch)
	a.own(second, 3, time.Hour)
	a.settled(second)
	a.wantSame(second, first)
	if !strings.Contains(a.log.String(), "restored from its snapshot") {
		t.Error("the new owner did not use the snapshot")
	}
	if after := lastOf(t, a, messages.StreamFetch); after != before {
		t.Errorf("%d requests were sent again", after-before)
	}
}

func lastOf(t *testing.T, a *takeoverFixture, stream string) uint64 {
	t.Helper()
	s, err := a.bus.JS.Stream(t.Context(), stream)
	a.must(err)
	return s.CachedInfo().State.LastSeq
}

func TestNewOwnerRebuildsTheStateFromWholeStreams(t *testing.T) {
	t.Parallel()
	a := newTakeoverFixture(t)
	first, second := a.store(), a.store()
	owner := a.own(first, 1, 0)
	a.seedHosts(12)
	a.live(100, "page")
	a.settled(first)
	a.must(owner.die())
	a.own(second, 2, 0)
	a.settled(second)
	a.wantSame(second, first)
	if !strings.Contains(a.log.String(), "reading its streams from their beginning") {
		t.Error("the new owner did not say how it came to its state")
	}
}

func TestRequestsOfTheFormerOwnerAreNotSentAgain(t *testing.T) {
	t.Parallel()
	a := newTakeoverFixture(t)
	first, second := a.store(), a.store()
	owner := a.own(first, 1, time.Hour)
	a.seed("http://" + hosts(1)[0] + "/") // so that there is a snapshot, without the rest
	a.take(1)[0].ends(messages.Gone)
	owner.handOver()
	owner = a.own(first, 2, time.Hour)
	a.seedHosts(12)
	sent := a.take(12) // one for each host
	a.must(owner.die())
	for _, e := range sent[:4] { // while nobody has the partition
		e.ends(messages.OK)
		e.parsed()
	}
	sent[4].ends(messages.RobotsFetched)
	a.own(second, 3, time.Hour)
	next := a.take(5) // from the hosts whose requests had ended
	a.none()
	answered := make(map[string]bool)
	for _, e := range sent[:5] {
		answered[hostname(e.URL)] = true
	}
	for _, e := range next {
		if !answered[hostname(e.URL)] || e.Epoch != 3 {
			t.Errorf("sent by the new owner: %+v, its host is being asked", e.Request)
		}
	}
	for _, e := range append(next, sent[5:]...) {
		e.ends(messages.OK)
		e.parsed()
	}
	attempts := make(map[string]int)
	for _, e := range append(sent, next...) {
		attempts[e.URL]++
	}
	for st, ok := a.status(); !ok || st.Counters.Pending() > 0; st, ok = a.status() {
		for _, e := range a.take(1) {
			attempts[e.URL]++
			e.ends(messages.OK)
			e.parsed()
		}
		time.Sleep(5 * time.Millisecond)
		if a.idle() {
			break
		}
	}
	for u, n := range attempts {
		want := 1
		if u == sent[4].URL {
			want = 2
		}
		if n != want {
			t.Errorf("%s was sent %d times, want %d", u, n, want)
		}
	}
	a.settled(second)
	st, _ := a.status()
	if c := st.Counters; c.Done != 48 || c.Pages != 48 || c.Known() != 48 || c.Attempts[messages.RobotsFetched] != 1 {
		t.Errorf("counted %+v, want 48 pages", c)
	}
}

// idle reports whether no URL is open any longer.
func (t *takeoverFixture) idle() bool {
	idle := false
	t.eventually("there is a request, or an end", func() bool {
		st, ok := t.status()
		idle = ok && st.Counters.Pending() == 0
		return ok && (idle || st.Counters.InFlight > 0 && st.Counters.Parsing == 0)
	})
	return idle
}

func hostname(url string) string {
	host, _, _ := strings.Cut(strings.TrimPrefix(url, "http://"), "/")
	return host
}

// A new owner that dies before it has caught up has the binding, and a store without the former
// owner's in-flight requests.
func TestNewOwnerThatDiesAtOnceKnowsWhatWasUnderWay(t *testing.T) {
	t.Parallel()
	a := newTakeoverFixture(t)
	first, second := a.store(), a.store()
	owner := a.own(first, 1, time.Hour)
	a.seedHosts(12)
	a.settled(first) // the next owner would resend requests that are still on their way to FETCH
	owner.handOver()
	owner = a.own(first, 2, time.Hour)
	sent := a.take(12)
	for _, e := range sent { // so that the next of each host are sent after the snapshot
		e.ends(messages.OK)
		e.parsed()
	}
	sent = a.take(12)
	a.settled(first)
	a.must(owner.die())
	best := 0
	urgent := messages.Candidates{Crawl: "c", Source: messages.SourceSeed}
	for _, h := range hosts(12) { // would be sent now, if the hosts were not being asked
		urgent.URLs = append(urgent.URLs, messages.Candidate{URL: "http://" + h + "/urgent", Priority: &best})
	}
	a.found(urgent)
	if restored, err := (takeover{a.frontier(second, time.Hour)}).run(t.Context(), 0, 3); err != nil || !restored {
		t.Fatalf("restored %v, %v", restored, err)
	}
	a.own(second, 4, time.Hour)
	a.settledAt(60)
	a.none()
	for _, e := range sent {
		e.ends(messages.OK)
		e.parsed()
	}
	for _, e := range a.take(12) {
		if !strings.HasSuffix(e.URL, "/urgent") || e.Attempt != 1 {
			t.Errorf("attempt %d of %s was sent, want the urgent one", e.Attempt, e.URL)
		}
	}
	a.none()
}

// settledAt waits until the partition knows n URLs.
func (t *takeoverFixture) settledAt(n int64) {
	t.t.Helper()
	t.eventually("the URLs are known", func() bool {
		st, ok := t.status()
		return ok && st.Counters.Known() == n
	})
}

func TestStateThatCannotBeMadeAgainIsAskedFor(t *testing.T) {
	t.Parallel()
	a := newTakeoverFixture(t)
	first, second := a.store(), a.store()
	owner := a.own(first, 1, 0)
	a.seedHosts(3)
	a.take(3)
	a.settled(first)
	a.must(owner.die())
	s, err := a.bus.JS.Stream(t.Context(), messages.StreamURLs)
	a.must(err)
	a.must(s.Purge(t.Context()))
	err = a.own(second, 2, 0).wait()
	if !errors.Is(err, ErrForeignState) {
		t.Fatalf("took over with %v, want ErrForeignState", err)
	}
	for _, part := range []string{first.ID, second.ID, "--state", "--snapshot-every"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not name %s", err, part)
		}
	}
	if n := len(a.dump(second)); n != 0 {
		t.Errorf("the store has %d keys of a partition that it did not get", n)
	}
	a.own(first, 3, 0) // nothing has happened to the state there
	a.settled(first)
}

func TestFormerOwnerThatWasFrozenOverwritesNothing(t *testing.T) {
	t.Parallel()
	a := newTakeoverFixture(t)
	first, second := a.store(), a.store()
	owner := a.own(first, 1, time.Hour)
	a.seedHosts(12)
	a.live(20, "page")
	owner.handOver()
	f := a.frontier(first, time.Hour)
	_, err := takeover{f}.run(t.Context(), 0, 2)
	a.must(err)
	frozen, err := f.open(t.Context(), 0, 2, false) // it gets no further, and does not learn that it has lost the partition
	a.must(err)
	defer frozen.close()
	next := a.own(second, 3, time.Hour)
	a.live(20, "more")
	a.settled(second)
	next.handOver()
	snapshots := partition.NewSnapshots(a.bus)
	saved, _, err := snapshots.Newest(t.Context(), 0)
	a.must(err)
	bound, err := snapshots.Binding(t.Context(), 0)
	a.must(err)
	if saved.Owner != second.ID || saved.Epoch != 3 || bound.Store != second.ID {
		t.Fatalf("saved %+v, bound %+v, want the second store", saved, bound)
	}
	frozen.finalSnapshot()
	if !strings.Contains(a.log.String(), partition.ErrStale.Error()) {
		t.Error("the former owner was not told")
	}
	if _, err := (takeover{f}).run(t.Context(), 0, 2); !errors.Is(err, partition.ErrStale) {
		t.Errorf("took the partition back under an old epoch: %v", err)
	}
	again, _, err := snapshots.Newest(t.Context(), 0)
	a.must(err)
	still, err := snapshots.Binding(t.Context(), 0)
	a.must(err)
	if again.Object != saved.Object || still != bound {
		t.Errorf("now %+v, bound %+v, want what the new owner saved", again, still)
	}
	r, err := snapshots.Open(t.Context(), again)
	a.must(err)
	defer r.Close()
	if n, err := io.Copy(io.Discard, r); err != nil || n != saved.Bytes {
		t.Errorf("read %d bytes of the snapshot, %v; want %d", n, err, saved.Bytes)
	}
}

func TestSnapshotOfAnotherFormatIsRefused(t *testing.T) {
	t.Parallel()
	a := newTakeoverFixture(t)
	snapshots := partition.NewSnapshots(a.bus)
	_, err := snapshots.Save(t.Context(), 0, partition.Snapshot{Owner: "other", Epoch: 1, Format: state.Format + 1}, func(w io.Writer) error {
		_, err := w.Write([]byte("of the future"))
		return err
	})
	a.must(err)
	bound, err := snapshots.Rebind(t.Context(), 0, partition.Binding{}, "other", 1)
	a.must(err)
	s := a.store()
	err = a.own(s, 2, time.Hour).wait()
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("format %d, this build reads %d", state.Format+1, state.Format)) {
		t.Errorf("took over with %v, want that the format is named", err)
	}
	if now, err := snapshots.Binding(t.Context(), 0); err != nil || now != bound {
		t.Errorf("bound %+v, %v; want as before", now, err)
	}
}

func TestDamagedSnapshotChangesNothing(t *testing.T) {
	t.Parallel()
	a := newTakeoverFixture(t)
	snapshots := partition.NewSnapshots(a.bus)
	_, err := snapshots.Save(t.Context(), 0, partition.Snapshot{Owner: "other", Epoch: 1, Format: state.Format}, func(w io.Writer) error {
		_, err := w.Write([]byte("no table"))
		return err
	})
	a.must(err)
	bound, err := snapshots.Rebind(t.Context(), 0, partition.Binding{}, "other", 1)
	a.must(err)
	s := a.store()
	if err := a.own(s, 2, time.Hour).wait(); err == nil {
		t.Error("a snapshot that is no table was taken in")
	}
	if now, err := snapshots.Binding(t.Context(), 0); err != nil || now != bound {
		t.Errorf("bound %+v, %v; want as before", now, err)
	}
}

// If the object of a snapshot is lost, the state does not start from scratch: the error names the
// frontier that has the state itself.
func TestLostSnapshotNamesTheStoreThatHasTheState(t *testing.T) {
	t.Parallel()
	a := newTakeoverFixture(t)
	first, second := a.store(), a.store()
	owner := a.own(first, 1, time.Hour)
	a.seedHosts(3)
	a.take(3)
	a.settled(first)
	owner.handOver()
	objects, err := a.bus.JS.Stream(t.Context(), "OBJ_"+messages.BucketSnapshots)
	a.must(err)
	a.must(objects.Purge(t.Context()))
	err = a.own(second, 2, time.Hour).wait()
	if !errors.Is(err, partition.ErrSnapshotGone) {
		t.Fatalf("took over with %v, want ErrSnapshotGone", err)
	}
	for _, part := range []string{first.ID, second.ID, "--state", messages.BucketSnapshots} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not name %s", err, part)
		}
	}
	a.own(first, 3, time.Hour)
	a.settled(first)
}

func TestPartitionThatComesBackForgetsWhatWasLeftOfIt(t *testing.T) {
	t.Parallel()
	a := newTakeoverFixture(t)
	first, second := a.store(), a.store()
	a.must(first.MarkNew(1, "kept"))
	owner := a.own(first, 1, time.Hour)
	a.seedHosts(12)
	a.live(30, "first")
	a.settled(first)
	owner.handOver()
	left := a.dump(first)
	owner = a.own(second, 2, time.Hour)
	a.live(60, "second")
	a.settled(second)
	owner.handOver()
	if now := a.dump(first); !slices.Equal(now, left) {
		t.Fatal("the store that gave up the partition changed")
	}
	a.own(first, 3, time.Hour)
	a.settled(first)
	a.wantSame(first, second)
	if kept, _, err := first.Origin(1); err != nil || kept != "kept" {
		t.Errorf("what the store has of another partition is gone: %v", err)
	}
}

// An owner that is still replaying may know less than the former one did, and reports it.
func TestOwnerThatCatchesUpSaysSo(t *testing.T) {
	t.Parallel()
	a := newTakeoverFixture(t)
	first, second := a.store(), a.store()
	owner := a.own(first, 1, time.Hour)
	a.seedHosts(1)
	a.settled(first)
	owner.handOver() // the snapshot is made here
	owner = a.own(first, 2, time.Hour)
	e := a.take(1)[0]
	e.ends(messages.OK)
	e.parsed()
	a.settled(first)
	a.must(owner.die())
	f := a.frontier(second, time.Hour)
	part, err := f.acquirePartition(t.Context(), 0, 3)
	a.must(err)
	defer part.close()
	if got, err := part.state.Questions.Explain("c", e.URL); err != nil || !got.Behind || got.State == state.Done.String() {
		t.Errorf("before it has caught up it says %+v, %v", got, err)
	}
	if got, err := part.state.Questions.Explain("c", e.URL+"?"); err != nil || !got.Behind || got.Known {
		t.Errorf("of a URL that it does not know it says %+v, %v", got, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var feeds sync.WaitGroup
	feeds.Go(func() { _ = part.urls.Run(ctx) })
	feeds.Go(func() { _ = part.results.Run(ctx) })
	a.must(catchUp{part}.replay(t.Context()))
	if got, err := part.state.Questions.Explain("c", e.URL); err != nil || got.Behind || got.State != state.Done.String() {
		t.Errorf("when it has caught up it says %+v, %v", got, err)
	}
	cancel()
	feeds.Wait()
}

// The last messages that a state has applied may be gone, such as those of a deleted crawl. An
// owner that continues must not wait for them: otherwise it would do nothing before another message
// arrives.
func TestOwnerGoesOnThoughItsLastMessagesWerePurged(t *testing.T) {
	t.Parallel()
	a := newTakeoverFixture(t)
	s := a.store()
	first := a.own(s, 1, time.Hour)
	a.seed("https://h1.test/")
	found := messages.Candidates{Crawl: "deleted", Source: messages.SourceLink, URLs: []messages.Candidate{{URL: "https://h1.test/x"}}}
	a.publish(messages.SubjectURLs(found.Source, "deleted", 0), "", found.Encode())
	a.settled(s)
	a.must(first.die())
	stream, err := a.bus.JS.Stream(t.Context(), messages.StreamURLs)
	a.must(err)
	a.must(stream.Purge(t.Context(), jetstream.WithPurgeSubject(messages.SubjectAny("deleted", 0))))
	next := a.own(s, 2, time.Hour)
	a.eventually("the next owner has caught up", func() bool {
		st, ok := a.status()
		return ok && st.Epoch == 2 && !st.Settling
	})
	a.must(next.die())
}

package state

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"seine/internal/frontier/table"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// delete deletes the crawl, which has the default spec from then on.
func (w *partitionFixture) delete() {
	w.t.Helper()
	count := uint32(1)
	if w.last != nil {
		count += w.last.Count
	}
	w.gen++
	w.last = &messages.Deletion{Rev: w.gen, Count: count, Timeout: messages.Millis(time.Minute)}
	w.change(func(*crawlspec.Spec) {})
}

// keysOf returns the keys of the store that name a crawl or contain a hash of its URLs, and those
// of hosts and domains whose values do.
func (w *partitionFixture) keysOf(crawl string, hashes ...messages.URLHash) (keys []string) {
	w.t.Helper()
	it, err := w.store.db.NewIter(&pebble.IterOptions{})
	w.must(err)
	defer it.Close()
	name := append([]byte(crawl), 0)
	for ok := it.First(); ok; ok = it.Next() {
		key, kind := it.Key(), it.Key()[2]
		found := bytes.Contains(key[3:], name)
		for _, hash := range hashes {
			found = found || bytes.Contains(key[3:], hash[:]) || bytes.Contains(it.Value(), hash[:])
		}
		switch kind {
		case kindPosition, kindTime, kindDue, kindLine: // numbers and names of hosts
			continue
		case kindCounters, kindAwake:
			found = string(key[3:]) == crawl
		case kindHost:
			h, err := decodeHost(string(key[3:]), it.Value())
			w.must(err)
			found = h.wants(crawl)
		}
		if found {
			keys = append(keys, string(key[2:]))
		}
	}
	return keys
}

// spread gives the crawl URLs in every state.
func (w *partitionFixture) spread() {
	w.t.Helper()
	w.change(func(s *crawlspec.Spec) {
		s.MaxAttempts = 3
		s.Recrawl = []crawlspec.RecrawlRule{{Match: "*again", Every: crawlspec.Duration(time.Hour)}}
	})
	w.seed("https://a.test/ok", "https://a.test/again", "https://b.test/late?b=1&a=2", "https://c.test/way")
	w.link(1, "https://elsewhere.test/")
	sent := w.dispatch(100)
	if len(sent) != 4 {
		w.t.Fatalf("sent %v", sent)
	}
	w.answer("https://a.test/ok", messages.OK)
	w.answer("https://a.test/again", messages.NotModified)
	w.answer("https://b.test/late?b=1&a=2", messages.Timeout)
	for i := range 3 * queueWindow {
		w.link(1, "https://a.test/queue/"+string(rune('a'+i%26))+string(rune('a'+i/26)))
	}
}

func (w *partitionFixture) answer(url string, class messages.Class) {
	w.t.Helper()
	for id, req := range w.part.urls.inFlight {
		if req.URL != url {
			continue
		}
		rules, err := w.part.crawls.rules("c", 0)
		w.must(err)
		w.must(w.part.ApplyResult(&messages.Result{
			Crawl: "c", Rev: rules.Rev, URL: url, Visit: req.visit(id.hash), Attempt: req.Sent, Class: class, Status: 200, BytesWire: 5,
		}, w.at()))
		w.must(w.part.Commit(w.at()))
		return
	}
	w.t.Fatalf("%s is not under way", url)
}

func TestDeletedCrawlLeavesNothingInThePartition(t *testing.T) {
	w := newPartitionFixture(t, nil)
	w.spread()
	w.must(w.part.setAside(w.part.urlKey(urlID{"c", messages.HashURL("https://a.test/queue/ba")})))
	w.must(w.part.Commit(w.at()))
	w.must(w.store.db.Set(w.part.scope.openingKey("c", root{domain: "a.test"}), nil, pebble.Sync)) // left by steps in progress
	for _, h := range w.part.hosts.active {
		w.part.hosts.park(h, h.of("c"))
	}
	w.must(w.part.Commit(w.at()))
	w.must(w.store.db.Set(w.part.failedKey(urlID{"c", messages.HashURL("https://b.test/")}), nil, pebble.Sync))
	w.must(w.store.db.Set(w.part.discovery.linksPrefix(urlID{"c", messages.HashURL("https://b.test/")}), nil, pebble.Sync))
	w.must(w.store.db.Set(table.Name(table.Prefix(0, kindUnchanged), "c"), nil, pebble.Sync))
	w.must(w.store.db.Set(w.part.scope.orderKey("c", messages.HashURL("https://b.test/late?a=2&b=1")), nil, pebble.Sync))
	var hashes []messages.URLHash
	w.must(w.store.scan(table.Prefix(0, kindURL), nil, func(key, _ []byte) (bool, error) {
		hash, _ := hashAtEnd(key)
		hashes = append(hashes, hash)
		return true, nil
	}))
	kinds := make(map[byte]bool)
	for _, key := range w.keysOf("c", hashes...) {
		kinds[key[0]] = true
	}
	for _, kind := range []byte{
		kindCounters, kindAwake, kindURL, kindFailed, kindQueue, kindHost, kindRetry, kindInFlight, kindOpened, kindOpening, kindSeed,
		kindOrder, kindParked, kindBarred, kindSetAside, kindLinks, kindUnchanged, kindRun,
	} {
		if !kinds[kind] {
			t.Errorf("nothing of kind %c names the crawl", kind)
		}
	}
	w.delete()
	w.tend()
	if keys := w.keysOf("c", hashes...); len(keys) > 0 {
		t.Errorf("%d keys are left: %q", len(keys), keys[:min(10, len(keys))])
	}
	w.pass(time.Minute)
	w.step()
	w.pass(time.Minute)
	w.step()
	if len(w.part.crawls.active) > 0 || len(w.part.urls.inFlight) > 0 || w.part.hosts.windows != 0 {
		t.Errorf("in memory: %d crawls, %d requests, %d windows", len(w.part.crawls.active), len(w.part.urls.inFlight), w.part.hosts.windows)
	}
	if got := w.dispatch(100); len(got) > 0 {
		t.Errorf("sent %v", got)
	}
}

// Hosts with pending delays when their crawl was deleted are removed when those are over, in steps,
// whenever a process is killed. Others are not, and in the end nothing is scanned any more.
func TestHostsOfADeletedCrawlAreForgottenLater(t *testing.T) {
	if withRace {
		t.Skip("runs without the race detector")
	}
	t.Parallel()
	w := newPartitionFixture(t, nil)
	w.spread()
	w.delete()
	w.tend()
	left := func() (n int) {
		w.must(w.store.scan(table.Prefix(0, kindHost), nil, func(_, _ []byte) (bool, error) { n++; return true, nil }))
		return n
	}
	if left() == 0 {
		t.Fatal("no host is to be treated with care")
	}
	wanted := []string{"https://z.test/1", "https://z.test/2"}
	w.seed(wanted...) // of the next crawl
	w.dispatch(1)
	for i := range 60 {
		w.pass(time.Hour)
		w.restart()
		w.step()
		if i%2 == 0 {
			w.restart() // in the middle of it
		}
		w.tend()
	}
	if known, err := w.store.has(w.part.hostKey("z.test")); err != nil || !known || left() != 2 {
		t.Errorf("%d hosts and domains are known, the one that is wanted: %v, %v", left(), known, err)
	}
	if n := w.countKeys(kindForget); n > 0 || w.part.schedule.nextForget != math.MaxInt64 {
		t.Errorf("hosts are still looked for: %d, from %d on", n, w.part.schedule.nextForget)
	}
}

// A removal continues where it was when its process is killed after any step.
func TestRemovalGoesOnAfterAKill(t *testing.T) {
	w := newPartitionFixture(t, nil)
	w.spread()
	w.delete()
	for range 6 {
		w.must(w.part.RunTimers(w.at()))
		w.must(w.part.Commit(w.at()))
		w.must(w.part.RunTimers(w.at())) // this is lost
		w.restart()
	}
	w.tend()
	if keys := w.keysOf("c"); len(keys) > 0 {
		t.Errorf("%d keys are left: %q", len(keys), keys[:min(10, len(keys))])
	}
}

// Messages from before the deletion do not bring the crawl back. Messages after it start a new one,
// whose visits differ.
func TestCrawlOfADeletedNameBeginsAnew(t *testing.T) {
	w := newPartitionFixture(t, nil)
	w.spread()
	before := w.current.Rev
	old := messages.Visit{URL: messages.HashURL("https://c.test/way"), Round: 1}
	w.delete()
	late := &messages.Candidates{
		Crawl: "c", Rev: before, Source: messages.SourceLink, Depth: 1, Ends: old, URLs: []messages.Candidate{{URL: "https://a.test/late"}},
	}
	_, err := w.part.ApplyCandidates(late, 1, w.at()) // before anything was removed
	w.must(err)
	w.seed("https://c.test/way", "https://a.test/queue/aa")
	if c := w.part.crawls.active["c"]; c.Known() != 2 || w.part.crawls.removals["c"] == nil {
		t.Errorf("beside the removal: %+v", c.Counters)
	}
	w.tend()
	if keys := w.keysOf("c"); slices.ContainsFunc(keys, func(k string) bool { return k[0] == kindRetry || k[0] == kindInFlight }) {
		t.Errorf("of the deleted crawl: %q", keys)
	}
	c := w.part.crawls.active["c"]
	if c.Known() != 2 || c.Queued != 2 {
		t.Errorf("the new crawl has %+v", c.Counters)
	}
	w.must(w.part.ApplyResult(&messages.Result{
		Crawl: "c", Rev: before, URL: "https://c.test/way", Visit: old, Attempt: 1, Class: messages.Gone,
	}, w.at()))
	_, err = w.part.ApplyCandidates(late, 1, w.at())
	w.must(err)
	w.must(w.part.Commit(w.at()))
	w.restart()
	w.tend()
	if c := w.part.crawls.active["c"]; c.Queued != 2 || c.Known() != 2 || len(c.Attempts) > 0 {
		t.Errorf("late messages changed it: %+v", c.Counters)
	}
	w.pass(time.Hour)
	if got := w.dispatch(10); len(got) != 2 {
		t.Fatalf("sent %v", got)
	}
	for id, req := range w.part.urls.inFlight {
		if v := req.visit(id.hash); v.Round != messages.FirstRound(0, 1) || v.Incarnation() != 1 {
			t.Errorf("visit %v", v)
		}
	}
}

// A host gets no request for as long as a request of a deleted crawl may still be in flight.
func TestHostRestsAfterItsCrawlWasDeleted(t *testing.T) {
	w := newPartitionFixture(t, nil)
	w.seed("https://a.test/")
	if got := w.dispatch(10); len(got) != 1 {
		t.Fatalf("sent %v", got)
	}
	w.delete()
	w.seed("https://a.test/", "https://b.test/")
	w.tend()
	if got := w.dispatch(10); !slices.Equal(got, []string{"https://b.test/"}) {
		t.Errorf("sent at once: %v", got)
	}
	w.pass(messages.ClaimTTL(time.Minute) - time.Millisecond)
	if got := w.dispatch(10); len(got) > 0 {
		t.Errorf("sent too early: %v", got)
	}
	w.pass(time.Millisecond)
	if got := w.dispatch(10); len(got) != 1 {
		t.Errorf("sent in the end: %v", got)
	}
}

// A deleted crawl stays deleted when the partition is restored from an earlier snapshot.
func TestSnapshotDoesNotBringADeletedCrawlBack(t *testing.T) {
	w := newPartitionFixture(t, nil)
	w.spread()
	v := w.store.View(0)
	var snapshot bytes.Buffer
	w.must(v.Write(&snapshot))
	v.Close()
	w.delete()
	w.tend()
	w.part.Close()
	w.must(w.store.Replace(t.Context(), 0, &snapshot))
	_ = w.store.Close()
	w.open()
	if len(w.keysOf("c")) == 0 {
		t.Fatal("the snapshot has nothing of the crawl")
	}
	w.tend()
	if keys := w.keysOf("c"); len(keys) > 0 {
		t.Errorf("%d keys are left", len(keys))
	}
}

// A crawl with unreadable counters is not taken for the one that was deleted before it.
func TestCrawlAfterADeletionSurvivesTheLossOfItsCounters(t *testing.T) {
	w := newPartitionFixture(t, nil)
	w.seed("https://a.test/old")
	w.delete()
	w.tend()
	w.seed("https://a.test/new")
	w.kill()
	w.open()
	damage(garble, kindCounters)(w)
	w.restart()
	w.tend()
	w.wantState("https://a.test/new", Queued, "")
	if c := w.part.crawls.active["c"]; c == nil || c.Since != w.last.Rev {
		t.Errorf("the crawl is %+v", c)
	}
}

// A request of a deleted crawl that a former owner sent delays the host, though the new owner does
// not know the crawl any more.
func TestRequestOfADeletedCrawlInFetchLetsItsHostRest(t *testing.T) {
	w := newPartitionFixture(t, nil)
	before := w.current.Rev
	w.delete()
	w.seed("https://a.test/", "https://b.test/")
	const url = "https://a.test/old"
	w.must(w.part.Requests.adoptForeign(&messages.Request{
		Crawl: "c", Rev: before, URL: url, Visit: messages.Visit{URL: messages.HashURL(url), Round: 1}, Attempt: 1,
	}, w.at()))
	w.must(w.part.Commit(w.at()))
	w.wantSent(w.dispatch(10), "https://b.test/")
	w.pass(messages.ClaimTTL(time.Minute))
	w.wantSent(w.dispatch(10), "https://a.test/")
}

// A partition that has removed a crawl needs another snapshot, though it has read nothing since the
// last; this holds after a kill too.
func TestRemovalMakesTheSnapshotOutOfDate(t *testing.T) {
	w := newPartitionFixture(t, nil)
	w.spread()
	if w.part.Removals.Count() != 0 {
		t.Fatal("nothing was removed")
	}
	w.delete()
	w.tend()
	if w.part.Removals.Count() == 0 {
		t.Error("the last snapshot has a crawl that was removed, and is not made anew")
	}
	w.restart() // before the snapshot
	if w.part.Removals.Count() == 0 {
		t.Error("after a kill, it is not made anew")
	}
	w.part.Removals.SnapshotSaved(w.part.Removals.Count() - 1) // one that was begun earlier
	w.must(w.part.Commit(w.at()))
	w.restart()
	if w.part.Removals.Count() == 0 {
		t.Error("a snapshot that still has the crawl was enough")
	}
	w.part.Removals.SnapshotSaved(w.part.Removals.Count())
	w.must(w.part.Commit(w.at()))
	w.restart()
	if w.part.Removals.Count() != 0 {
		t.Error("another is made after that")
	}
}

// A new crawl works beside the removal of a deleted one of its name, whose hosts, times and queues
// it does not see. It keeps its state when the removal ends, even after kills at any step and when
// it is deleted meanwhile.
func TestNewCrawlWorksBesideTheRemovalOfADeletedOne(t *testing.T) {
	for _, again := range []bool{false, true} {
		w := newPartitionFixture(t, nil)
		var old []string
		for i := range 3 * reviewed {
			old = append(old, fmt.Sprintf("https://h%d.test/old", i))
		}
		w.seed(old...)
		w.restart() // the hosts are only on disk
		w.delete()
		w.seed("https://h1.test/new", "https://h2.test/old")
		if again {
			w.step()
			w.delete()
			w.seed("https://h1.test/new", "https://h2.test/old")
		}
		steps := 0
		for ; w.part.crawls.removals["c"] != nil; steps++ {
			w.step()
			w.must(w.part.RunTimers(w.at())) // this is lost
			w.restart()
			if c := w.part.crawls.active["c"]; c.Known() != 2 || c.Queued != 2 {
				t.Fatalf("after %d steps the crawl has %+v", steps, c.Counters)
			}
		}
		if steps < 4 {
			t.Errorf("removed in %d steps", steps)
		}
		w.must(w.store.scan(table.Prefix(0, kindHost), nil, func(key, value []byte) (bool, error) {
			h, err := decodeHost(string(key[3:]), value)
			if name := h.name; h.wants("c") && name != "h1.test" && name != "h2.test" || h.queued() > 1 {
				t.Errorf("host %s has %d URLs", name, h.queued())
			}
			return true, err
		}))
		if n := w.countKeys(kindQueue); n != 2 {
			t.Errorf("%d URLs are in queues", n)
		}
		got := w.dispatch(10)
		slices.Sort(got)
		if !slices.Equal(got, []string{"https://h1.test/new", "https://h2.test/old"}) {
			t.Errorf("sent %v", got)
		}
	}
}

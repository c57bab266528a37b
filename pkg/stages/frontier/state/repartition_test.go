package state

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"seine/internal/base/jsontext"
	"seine/internal/base/weburl"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
	"seine/pkg/stages/frontier/table"
)

var (
	largeURLs  = flag.Int("repartition.urls", 0, "about how many URLs TestRepartitionOfManyURLs has; 0 leaves it out")
	largeHosts = flag.Int("repartition.hosts", 10_000, "and how many hosts")
)

// picture is what the partitions of a store have, in whichever of them it is.
type picture struct {
	kinds     map[byte]KindFingerprint
	totals    map[string]frontierapi.Counters
	runs      map[string]frontierapi.Run
	links     KindFingerprint // one for each link of each page
	inherited map[string]bool
	due       KindFingerprint // URLs with a time in the index of those that wait
	usage     map[string]Usage
}

// pictureOf reads all that there is of n partitions.
func (w *partitionsWorld) pictureOf(s *Store, n int) picture {
	w.t.Helper()
	p := picture{totals: make(map[string]frontierapi.Counters), runs: make(map[string]frontierapi.Run), inherited: make(map[string]bool), usage: make(map[string]Usage)}
	kinds := slices.DeleteFunc(append([]byte(indexKinds), movedAsTheyAre...), func(k byte) bool { return k == kindRetry || k == kindAwake })
	var err error
	p.kinds, err = s.Fingerprint(w.t.Context(), n, kinds...)
	w.must(err)
	for q := range n {
		w.readCrawls(s, q, &p)
		w.readLinks(s, q, &p)
		w.readDue(s, q, &p)
	}
	return p
}

func (w *partitionsWorld) readCrawls(s *Store, q int, p *picture) {
	w.t.Helper()
	w.must(s.scan(table.Prefix(q, kindCounters), nil, func(key, value []byte) (bool, error) {
		var state crawlState
		w.must(jsontext.Unmarshal(value, &state))
		name := string(key[3:])
		sum := p.totals[name]
		sum.Add(&state.Counters)
		p.totals[name] = sum
		u := p.usage[name]
		p.usage[name] = Usage{u.Pages + state.Pages + state.InFlight, u.Bytes + state.BytesWire}
		return true, nil
	}))
	w.must(s.scan(table.Prefix(q, kindRun), nil, func(key, value []byte) (bool, error) {
		var r frontierapi.Run
		w.must(jsontext.Unmarshal(value, &r))
		name, _, err := table.CutName(key[3:])
		w.must(err)
		id := fmt.Sprint(name, r.Run)
		sum := p.runs[id]
		sum.Run = r.Run
		sum.Add(&r)
		p.runs[id] = sum
		return true, nil
	}))
	w.must(s.scan(table.Prefix(q, kindInherited), nil, func(key, value []byte) (bool, error) {
		p.inherited[string(key[3:])+string(value)] = true
		return true, nil
	}))
}

// readLinks takes apart which URLs pages have led to.
func (w *partitionsWorld) readLinks(s *Store, q int, p *picture) {
	w.t.Helper()
	w.must(s.scan(table.Prefix(q, kindLinks), nil, func(key, value []byte) (bool, error) {
		l, err := decodeLinks(value)
		w.must(err)
		for _, to := range l.to {
			p.links.Keys++
			id := fmt.Sprintf("%q %d %d %s", key[3:len(key)-2], l.round, l.deeper, to)
			p.links.Sum += hashOf(id)
		}
		return true, nil
	}))
}

// readDue reads which URLs are in the index of those that wait, but for entries that were overtaken.
func (w *partitionsWorld) readDue(s *Store, q int, p *picture) {
	w.t.Helper()
	w.must(s.scan(table.Prefix(q, kindURL), nil, func(key, value []byte) (bool, error) {
		r, err := decodeRecord(value)
		w.must(err)
		if r.Due == 0 {
			return true, nil
		}
		there, err := s.has(append(binary.BigEndian.AppendUint64(table.Prefix(q, kindRetry), uint64(r.Due)), key[3:]...))
		w.must(err)
		if there {
			p.due.Keys++
			p.due.Sum += hashOf(fmt.Sprintf("%d %q", r.Due, key[3:]))
		}
		return true, nil
	}))
}

func hashOf(text string) uint64 {
	h := messages.HashURL("http://x/" + text)
	return binary.BigEndian.Uint64(h[4:])
}

// wantSame compares two pictures.
func (w *partitionsWorld) wantSame(what string, got, want picture) {
	w.t.Helper()
	for kind, k := range want.kinds {
		if got.kinds[kind] != k {
			w.t.Errorf("%s: of kind %c there is %+v, want %+v", what, kind, got.kinds[kind], k)
		}
	}
	for _, f := range []struct {
		name      string
		got, want any
	}{
		{"counters", got.totals, want.totals}, {"runs", got.runs, want.runs}, {"links", got.links, want.links}, {"inherited", got.inherited, want.inherited},
		{"waiting URLs", got.due, want.due}, {"usage", got.usage, want.usage},
	} {
		if !reflect.DeepEqual(f.got, f.want) {
			w.t.Errorf("%s: %s are\n%+v, want\n%+v", what, f.name, f.got, f.want)
		}
	}
}

// repartition moves a store to another number of partitions, in a store of its own.
func (w *partitionsWorld) repartition(from *Store, n, to int) (*Store, *Moved) {
	w.t.Helper()
	next := w.openStore(w.t.TempDir())
	r := &Repartitioning{
		From: from, To: next, Partitions: [2]int{n, to}, Clock: w.process(),
		Positions: map[string]messages.Position{messages.StreamURLs: {Sequence: 7}, messages.StreamResults: {Sequence: 9}},
	}
	moved, err := r.Run(w.t.Context())
	w.must(err)
	return next, moved
}

// wantOwn checks that each URL is in the partition that it belongs to.
func (w *partitionsWorld) wantOwn(s *Store, n int) {
	w.t.Helper()
	for q := range n {
		w.must(s.scan(table.Prefix(q, kindURL), nil, func(_, value []byte) (bool, error) {
			r, err := decodeRecord(value)
			w.must(err)
			if p := messages.Partition(r.URL, n); p != q {
				w.t.Fatalf("%s is in partition %d of %d, want %d", r.URL, q, n, p)
			}
			return true, nil
		}))
	}
}

// All that is known of URLs, hosts and crawls is there afterwards, whatever the numbers, and again
// when the number is the one of before.
func TestRepartitionMovesAllThereIs(t *testing.T) {
	if withRace {
		t.Skip("runs without the race detector")
	}
	w := newPartitionsWorld(t, 16, 90)
	w.live(24, 20)
	w.spec("shop", func(s *crawlspec.Spec) { s.State = crawlspec.Paused })
	w.now = w.now.Add(time.Minute)
	for _, r := range w.dispatch(3) { // other hosts are parked
		w.answer(r, 8)
	}
	for h := range w.hosts {
		w.deliver(messages.Candidates{Crawl: "news", Source: messages.SourceLink, Referrer: w.url(0, 0), Depth: 1}, messages.Candidate{URL: w.url(h, 99)})
	}
	w.commit()
	w.close()
	w.overtake()
	before := w.pictureOf(w.store, 16)
	for _, kind := range []byte{kindFailed, kindQueue, kindDue, kindLine, kindInFlight, kindOpened, kindSeed, kindParked, kindOrder, kindBarred} {
		if before.kinds[kind].Keys == 0 {
			t.Errorf("there are no keys of kind %c: the test shows nothing of them", kind)
		}
	}
	if before.links.Keys == 0 || before.due.Keys == 0 || len(before.inherited) == 0 {
		t.Errorf("the test shows nothing of links (%d), planned visits (%d) or inherited metadata (%d)", before.links.Keys, before.due.Keys, len(before.inherited))
	}
	for _, numbers := range [][]int{{16, 64, 16}, {16, 4}, {16, 12, 20, 16}, {16, 1, 16}} {
		t.Run(fmt.Sprint(numbers), func(t *testing.T) {
			from := w.store
			for i, to := range numbers[1:] {
				next, moved := w.repartition(from, numbers[i], to)
				w.wantSame(fmt.Sprint(numbers[i], " to ", to), w.pictureOf(next, to), before)
				w.wantOwn(next, to)
				if moved.URLs != before.kinds[kindURL].Keys || moved.Hosts != before.kinds[kindHost].Keys || moved.Moves == 0 && to > 1 {
					t.Errorf("it says that it moved %+v", moved)
				}
				from = next
			}
		})
	}
}

// overtake leaves an entry of a URL that is due at another time now, as every change of that does.
func (w *partitionsWorld) overtake() {
	w.t.Helper()
	var stale []byte
	w.must(w.store.scan(table.Prefix(3, kindURL), nil, func(key, _ []byte) (bool, error) {
		stale = append(binary.BigEndian.AppendUint64(table.Prefix(3, kindRetry), 1), key[3:]...)
		return false, nil
	}))
	w.must(w.store.db.Set(stale, nil, nil))
}

// Partitions go on as those before would have: every request leaves at the same moment.
func TestRepartitionedPartitionsGoOnAlike(t *testing.T) {
	if withRace {
		t.Skip("runs without the race detector")
	}
	for _, to := range []int{64, 4} {
		t.Run(fmt.Sprint(to), func(t *testing.T) {
			w := newPartitionsWorld(t, 16, 120)
			w.live(12, 12)
			w.close()
			next, _ := w.repartition(w.store, 16, to)
			was, boot := w.store, w.now
			w.open(16)
			want := w.goOn()
			w.close()
			w.store, w.now = next, boot
			w.budgets = make(map[string]*Budget)
			repairs := repairsTotalSum(t)
			w.open(to)
			got := w.goOn()
			if n := repairsTotalSum(t); n != repairs {
				t.Errorf("%v faults were found in the new partitions", n-repairs)
			}
			if len(want) < 50 {
				t.Errorf("only %d hosts were asked", len(want))
			}
			for host, urls := range want {
				if !slices.Equal(got[host], urls) {
					t.Errorf("%s is asked\n%q, want\n%q", host, got[host], urls)
				}
			}
			if len(got) != len(want) {
				t.Errorf("%d hosts were asked, want %d", len(got), len(want))
			}
			w.store = was
			w.audit(to)
		})
	}
}

// repairsTotalSum is how many faults the process has found in stores.
func repairsTotalSum(t *testing.T) (n float64) {
	for _, what := range []string{repairIndex, repairQueue, repairURL, repairHost, repairCounters, repairInFlight, repairTime, repairPosition, repairMessage} {
		n += repairs(t, what)
	}
	return n
}

// keepActive lets a world run for a while, and returns what each host was asked, and when.
func (w *partitionsWorld) goOn() map[string][]string {
	w.t.Helper()
	began, sent := w.now, make(map[string][]string)
	for range 200 {
		for _, r := range w.dispatch(10_000) {
			at := fmt.Sprintf("%s %s %s %d", w.now.Sub(began), r.Crawl, r.URL, r.Attempt)
			host := weburl.Host(r.URL)
			sent[host] = append(sent[host], at)
			s := w.parts[r.p]
			w.must(s.ApplyResult(&messages.Result{
				Crawl: r.Crawl, Rev: r.Rev, URL: r.URL, Visit: r.Visit, Attempt: r.Attempt, Run: r.Run, Class: messages.OK, Status: 200, IP: "192.0.2.1",
			}, s.Now()))
		}
		w.commit()
		w.now = w.now.Add(500 * time.Millisecond)
	}
	for host := range sent {
		slices.Sort(sent[host])
	}
	return sent
}

// audit has all URLs counted anew: the counters must be what they are.
func (w *partitionsWorld) audit(n int) {
	w.t.Helper()
	before := w.totals()
	for _, s := range w.parts {
		s.auditAll()
	}
	w.tend()
	if after := w.totals(); !reflect.DeepEqual(statesOf(before), statesOf(after)) {
		w.t.Errorf("counted anew in %d partitions there is\n%+v, want\n%+v", n, after, before)
	}
}

func statesOf(all map[string]frontierapi.Counters) map[string]frontierapi.Counters {
	all = maps.Clone(all)
	for name, c := range all {
		c.Changed = 0
		all[name] = c
	}
	return all
}

// Partitions that become one and have times of their own wait for as long as before.
func TestRepartitionMovesTimes(t *testing.T) {
	w := newPartitionsWorld(t, 4, 30)
	w.live(8, 10)
	w.close()
	// Partition 1 was with a machine whose clock was an hour ahead, and moved.
	const ahead = int64(time.Hour)
	m, found, err := w.store.readMark(1)
	w.must(err)
	if !found {
		t.Fatal("partition 1 has no time")
	}
	before := w.waits(4)
	m.Now += ahead
	m.Unsure += ahead / 2
	w.must(w.store.db.Set(table.Prefix(1, kindTime), must(json.Marshal(m)), nil))
	shifted := w.waits(4)
	next, _ := w.repartition(w.store, 4, 2)
	w.store = next
	if after := w.waits(2); !maps.Equal(after, shifted) {
		t.Errorf("hosts wait otherwise than before: %d of %d", differing(after, shifted), len(shifted))
	}
	if maps.Equal(before, shifted) {
		t.Error("the test shows nothing: no host waits longer by another time")
	}
}

func must[V any](v V, err error) V {
	if err != nil {
		panic(err)
	}
	return v
}

func differing(a, b map[string]int64) (n int) {
	for k, v := range b {
		if a[k] != v {
			n++
		}
	}
	return n
}

// waits are how long it is by each partition's time until something is due, and since hosts were asked.
func (w *partitionsWorld) waits(n int) map[string]int64 {
	w.t.Helper()
	all := make(map[string]int64)
	clock := w.process()
	for p := range n {
		m, found, err := w.store.readMark(p)
		w.must(err)
		if !found {
			continue
		}
		at := startPartitionTime(clock, m)
		now := at.now()
		w.must(w.store.scan(table.Prefix(p, kindHost), nil, func(key, value []byte) (bool, error) {
			h, err := decodeHost(string(key[3:]), value)
			w.must(err)
			if h.due != 0 {
				all["due "+h.name] = h.due - now
			}
			h.polite.Shift(-at.pace(now))
			all["polite "+h.name] = int64(hashOf(fmt.Sprint(h.polite)))
			return true, nil
		}))
		w.must(w.store.scan(table.Prefix(p, kindDue), nil, func(key, _ []byte) (bool, error) {
			all["index "+string(key[11:])] = int64(binary.BigEndian.Uint64(key[3:])) - now
			return true, nil
		}))
		w.must(w.store.scan(table.Prefix(p, kindURL), nil, func(_, value []byte) (bool, error) {
			r, err := decodeRecord(value)
			w.must(err)
			if r.Due != 0 {
				all["URL "+r.URL] = r.Due - now
			}
			return true, nil
		}))
	}
	return all
}

// A crawl that is being forgotten, or that partitions are in different runs of, is first to be
// settled by a frontier.
func TestRepartitionWaitsUntilCrawlsAreSettled(t *testing.T) {
	for name, change := range map[string]func(*crawlState){
		"being forgotten":  func(s *crawlState) { s.Removing = &removal{} },
		"began anew":       func(s *crawlState) { s.Since = 99 },
		"a run not begun":  func(s *crawlState) { s.Run = 2_000_000_000 },
		"everything again": func(s *crawlState) { s.Again = 1_900_000_000 },
	} {
		t.Run(name, func(t *testing.T) {
			w := newPartitionsWorld(t, 4, 30)
			w.live(4, 2)
			w.close()
			key := append(table.Prefix(3, kindCounters), "shop"...)
			var state crawlState
			w.must(jsontext.Unmarshal(must(w.store.get(key)), &state))
			change(&state)
			w.must(w.store.db.Set(key, must(json.Marshal(&state)), nil))
			r := &Repartitioning{From: w.store, To: w.openStore(t.TempDir()), Partitions: [2]int{4, 2}, Clock: w.process()}
			if _, err := r.Run(t.Context()); !errors.Is(err, ErrUnsettled) {
				t.Errorf("it was moved: %v", err)
			}
		})
	}
}

// TestRepartitionOfManyURLs is TestRepartitionMovesAllThereIs at the size that is asked for, and says how
// long it takes.
func TestRepartitionOfManyURLs(t *testing.T) {
	if *largeURLs == 0 {
		t.Skip("give -repartition.urls")
	}
	w := newPartitionsWorld(t, 16, *largeHosts)
	w.live(max(1, *largeURLs/(*largeHosts)), 12)
	w.close()
	before := w.pictureOf(w.store, 16)
	from, n := w.store, 16
	for _, to := range []int{64, 16} {
		began := time.Now()
		next, moved := w.repartition(from, n, to)
		t.Logf("%d to %d: %d URLs of %d hosts, %d keys, %d URLs to another partition, %s", n, to, moved.URLs, moved.Hosts, moved.Keys, moved.Moves, time.Since(began).Round(10*time.Millisecond))
		w.wantSame(fmt.Sprint(n, " to ", to), w.pictureOf(next, to), before)
		w.wantOwn(next, to)
		from, n = next, to
	}
	t.Logf("kinds: %+v", before.kinds)
}

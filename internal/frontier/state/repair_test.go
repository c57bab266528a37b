package state

import (
	"bytes"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/prometheus/client_golang/prometheus"

	"seine/internal/frontier/table"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
)

// fault makes a store inconsistent.
type fault func(w *partitionFixture)

// damage changes keys of partition 0 with one of these kinds.
func damage(change func(b *pebble.Batch, key, value []byte), kinds ...byte) fault {
	return func(w *partitionFixture) {
		b := w.store.db.NewBatch()
		for _, kind := range kinds {
			w.must(w.store.scan(table.Prefix(0, kind), nil, func(key, value []byte) (bool, error) {
				change(b, bytes.Clone(key), bytes.Clone(value))
				return true, nil
			}))
		}
		w.must(b.Commit(pebble.Sync))
	}
}

func remove(b *pebble.Batch, key, _ []byte) { _ = b.Delete(key, nil) }
func garble(b *pebble.Batch, key, _ []byte) { _ = b.Set(key, []byte{0xff, 1, 2}, nil) }

// ofURL damages only keys of one URL.
func ofURL(url string, change func(b *pebble.Batch, key, value []byte)) func(b *pebble.Batch, key, value []byte) {
	hash := messages.HashURL(url)
	return func(b *pebble.Batch, key, value []byte) {
		if bytes.HasSuffix(key, hash[:]) {
			change(b, key, value)
		}
	}
}

// hostsOnly and domainsOnly distinguish records of hosts and of domains.
const hostsOnly, domainsOnly = false, true

// of damages only records of hosts, or of domains.
func of(domains bool, change func(b *pebble.Batch, key, value []byte)) func(b *pebble.Batch, key, value []byte) {
	return func(b *pebble.Batch, key, value []byte) {
		if isDomain(string(key[3:])) == domains {
			change(b, key, value)
		}
	}
}

// miscount changes the counts of hosts.
func miscount(by int) func(b *pebble.Batch, key, value []byte) {
	return func(b *pebble.Batch, key, value []byte) {
		h, err := decodeHost(string(key[3:]), value)
		if err != nil {
			panic(err)
		}
		for _, w := range h.work {
			w.queued = max(0, w.queued+by)
		}
		_ = b.Set(key, h.Encode(nil), nil)
	}
}

const (
	faultyQueued, faultyDone, faultyFlight, faultyWaiting = "https://a.test/9", "https://a.test/0", "https://b.test/0", "https://c.test/0"
)

// faults returns all ways in which a key can contradict others or be unreadable.
func faults() map[string]fault {
	all := map[string]fault{
		"queue: a URL that is not known": func(w *partitionFixture) {
			r := &urlRecord{URL: "https://a.test/none", Priority: 1}
			w.must(w.store.db.Set(append(w.part.queuePrefix("a.test", "c"), pl(r)...), nil, pebble.Sync))
		},
		"queue: a URL that is done": func(w *partitionFixture) {
			w.must(w.store.db.Set(append(w.part.queuePrefix("a.test", "c"), pl(&urlRecord{URL: faultyDone})...), nil, pebble.Sync))
		},
		"queue: a URL of another host": func(w *partitionFixture) {
			w.must(w.store.db.Set(append(w.part.queuePrefix("b.test", "c"), pl(&urlRecord{URL: faultyQueued})...), nil, pebble.Sync))
		},
		"queue: a URL twice": func(w *partitionFixture) {
			w.must(w.store.db.Set(append(w.part.queuePrefix("a.test", "c"), pl(&urlRecord{URL: faultyQueued, Priority: 2})...), nil, pebble.Sync))
		},
		"queue: a URL that is missing":          damage(ofURL(faultyQueued, remove), kindQueue),
		"queue: all URLs are missing":           damage(remove, kindQueue),
		"host: counts too many":                 damage(of(hostsOnly, miscount(3)), kindHost),
		"host: counts too few":                  damage(of(hostsOnly, miscount(-2)), kindHost),
		"host: cannot be read":                  damage(of(hostsOnly, garble), kindHost),
		"host: is missing":                      damage(of(hostsOnly, remove), kindHost),
		"domain: cannot be read":                damage(of(domainsOnly, garble), kindHost),
		"URL: queued, cannot be read":           damage(ofURL(faultyQueued, garble), kindURL),
		"URL: under way, cannot be read":        damage(ofURL(faultyFlight, garble), kindURL),
		"URL: is missing":                       damage(ofURL(faultyQueued, remove), kindURL),
		"counters: cannot be read":              damage(garble, kindCounters),
		"list of crawls: is missing":            damage(remove, kindAwake),
		"list of crawls: one that is not known": func(w *partitionFixture) { w.must(w.store.db.Set(w.part.awakeKey("none"), nil, pebble.Sync)) },
		"due index: is missing":                 damage(remove, kindDue),
		"line: is missing":                      damage(remove, kindLine),
		"due index and line: are missing":       damage(remove, kindDue, kindLine),
		"domain: is missing":                    damage(of(domainsOnly, remove), kindHost),
		"due index: a host that is not known":   func(w *partitionFixture) { w.must(w.store.db.Set(w.part.dueKey(5, "none.test"), nil, pebble.Sync)) },
		"due index: a domain that is not known": func(w *partitionFixture) {
			w.must(w.store.db.Set(w.part.dueKey(5, lineMark+"none.test"), nil, pebble.Sync))
		},
		"due index: a host twice": func(w *partitionFixture) { w.must(w.store.db.Set(w.part.dueKey(5, "a.test"), nil, pebble.Sync)) },
		"line: a host that is not known": func(w *partitionFixture) {
			w.must(w.store.db.Set(w.part.lineKey("a.test", 5, "none.test"), nil, pebble.Sync))
		},
		"retry index: is missing": damage(remove, kindRetry),
		"retry index: cannot be read": func(w *partitionFixture) {
			w.must(w.store.db.Set(append(table.Prefix(0, kindRetry), "\x00\x00\x00\x00\x00\x00\x00\x05x"...), nil, pebble.Sync))
		},
		"under way: without a URL": func(w *partitionFixture) {
			w.must(w.store.db.Set(w.part.inFlightKey(urlID{"c", messages.HashURL("https://none.test/")}), nil, pebble.Sync))
		},
		"under way: a URL that is not": func(w *partitionFixture) {
			w.must(w.store.db.Set(w.part.inFlightKey(urlID{"c", messages.HashURL(faultyDone)}), nil, pebble.Sync))
		},
		"under way: is missing": damage(remove, kindInFlight),
		"under way: a key that cannot be read": func(w *partitionFixture) {
			w.must(w.store.db.Set(append(table.Prefix(0, kindInFlight), "c"...), nil, pebble.Sync))
		},
		"time: cannot be read": damage(garble, kindTime),
		"position: cannot be read": func(w *partitionFixture) {
			w.must(w.store.db.Set(append(table.Prefix(0, kindPosition), "URLS"...), []byte("{"), pebble.Sync))
		},
	}
	return all
}

func pl(r *urlRecord) []byte {
	p := newQueueKey(r, messages.HashURL(r.URL))
	return p[:]
}

// No inconsistency of a store ends a partition. It continues, at once and after a restart; every
// readable URL ends, no host gets concurrent requests, and the counters are correct in the end.
func TestNoFaultOfTheStoreEndsAPartition(t *testing.T) {
	all := faults()
	for i, name := range slices.Sorted(maps.Keys(all)) {
		if i%oneCaseIn != 0 {
			continue
		}
		for _, group := range []crawlspec.GroupBy{crawlspec.GroupByHost, crawlspec.GroupByDomain} {
			t.Run(fmt.Sprintf("%s/%s", name, group), func(t *testing.T) {
				t.Parallel()
				if group == crawlspec.GroupByHost && (strings.HasPrefix(name, "line") || name == "domain: is missing") {
					t.Skip("nobody looks there")
				}
				w := newPartitionFixture(t, func(s *crawlspec.Spec) {
					s.Delay, s.GroupBy, s.Scope = second, group, crawlspec.ScopeAny
				})
				var urls []string
				for _, host := range []string{"a.test", "b.test", "c.test", "www.a.test"} {
					for i := range 10 {
						urls = append(urls, fmt.Sprintf("https://%s/%d", host, i))
					}
				}
				w.seed(urls...)
				for _, u := range w.dispatch(10) {
					switch u {
					case faultyDone:
						w.result(u, nil)
						w.parsed(u)
					case faultyWaiting:
						w.result(u, class(messages.Timeout))
					}
				}
				all[name](w)
				w.restart()
				w.finish(urls)
			})
		}
	}
}

// A fault is logged once for each kind, with a description, and counted.
func TestFaultsAreToldOnceAndCounted(t *testing.T) {
	w := newPartitionFixture(t, nil)
	w.seed("https://a.test/1")
	for i := range 5 {
		r := &urlRecord{URL: fmt.Sprintf("https://a.test/none%d", i)}
		w.must(w.store.db.Set(append(w.part.queuePrefix("a.test", "c"), pl(r)...), nil, pebble.Sync))
	}
	w.restart()
	var log bytes.Buffer
	w.part.log = slog.New(slog.NewTextHandler(&log, nil))
	before := repairs(t, repairQueue)
	sent := w.dispatch(10)
	w.wantSent(append(sent, w.dispatch(10)...), "https://a.test/1")
	if n := repairs(t, repairQueue) - before; n < 5 {
		t.Errorf("%v repairs are counted, want 5", n)
	}
	if n := strings.Count(log.String(), "a queue has a URL that does not belong there"); n != 1 || !strings.Contains(log.String(), "host=a.test") {
		t.Errorf("told %d times:\n%s", n, log.String())
	}
}

// repairs returns the process's count of a kind.
func repairs(t *testing.T, what string) (n float64) {
	families, err := prometheus.DefaultGatherer.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == "seine_frontier_repairs_total" && m.GetLabel()[0].GetValue() == what {
				n = m.GetCounter().GetValue()
			}
		}
	}
	return n
}

// finish answers all requests until no more come, and checks the end.
func (w *partitionFixture) finish(urls []string) {
	w.t.Helper()
	told := make(map[string]bool)
	defer func() {
		maps.Copy(told, w.part.loggedRepairs)
		if len(told) == 0 {
			w.t.Error("nothing was told")
		}
	}()
	flying := func(u string) bool { return w.part.urls.inFlight[urlID{"c", messages.HashURL(u)}] != nil }
	for idle := 0; idle < 50; idle++ {
		var out []string
		for _, u := range urls {
			if flying(u) {
				out = append(out, u)
			}
		}
		if len(out) > 0 {
			idle = 0
		}
		hosts := make(map[string]string)
		for _, u := range out {
			host := u[:len("https://a.test")]
			if was := hosts[host]; was != "" {
				w.t.Fatalf("%s and %s are under way at once", was, u)
			}
			hosts[host] = u
			w.result(u, nil)
		}
		for _, u := range urls {
			if s, _ := w.state(u); s == Parsing {
				w.parsed(u)
			}
		}
		w.pass(5 * time.Second)
		w.dispatch(100)
		if idle == 20 { // the next owner finds the rest
			w.pass(2 * time.Hour)
			maps.Copy(told, w.part.loggedRepairs)
			w.restart()
		}
	}
	counted := frontierapi.Counters{}
	w.must(w.store.scan(table.Prefix(0, kindURL), nil, func(_, value []byte) (bool, error) {
		r, err := decodeRecord(value)
		w.must(err)
		countRecord(&counted, r, 1)
		if r.State != Done {
			w.t.Errorf("%s is %v in the end", r.URL, r.State)
		}
		return true, nil
	}))
	if c := w.part.crawls.get("c"); !c.SameStates(&frontierapi.Counters{Done: counted.Done, Excluded: counted.Excluded, Pages: c.Pages}) {
		w.t.Errorf("counters are %+v, want %+v", c.Counters, counted)
	}
	if counted.Done < int64(len(urls)-1) {
		w.t.Errorf("%d of %d URLs are known", counted.Done, len(urls))
	}
}

// After a domain's record was unreadable, its pages are counted again.
func TestPagesOfADomainThatCannotBeReadAreCounted(t *testing.T) {
	w := newPartitionFixture(t, func(s *crawlspec.Spec) {
		s.GroupBy, s.MaxPagesPerHost, s.Delay, s.Scope = crawlspec.GroupByDomain, 2, 0, crawlspec.ScopeDomain
	})
	w.seed("https://a.test/1", "https://www.a.test/2", "https://a.test/3")
	for _, url := range []string{"https://a.test/1", "https://www.a.test/2"} {
		for len(w.part.urls.inFlight) == 0 {
			w.pass(time.Second)
			w.dispatch(1)
		}
		w.answer(url, messages.OK)
	}
	w.kill()
	w.open()
	damage(of(domainsOnly, garble), kindHost)(w)
	w.restart()
	d, err := w.part.hosts.host(lineMark + "a.test")
	w.must(err)
	if n := d.of("c").pages; n != 2 || !w.part.loggedRepairs[repairHost] {
		t.Errorf("%d pages are counted, told %v", n, w.part.loggedRepairs)
	}
}

package state

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"seine/internal/frontier/table"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// kinds are all kinds of keys.
const kinds = "PCcUQTHLRIAVEFGZOBJWNMYKnr"

// strayKeys are possible rests of keys, after the kind, that this build has not written.
var strayKeys = []string{
	"", "c", "c\x00", "\x00", "\x00\x00", "c\x00x", "c\x00a.test\x00", "a.test\x00c\x00", "a.test\x00c\x00x",
	"\x00\x00\x00\x00\x00\x00\x00\x05", "\x00\x00\x00\x00\x00\x00\x00\x05c\x00", "\x00\x00\x00\x00\x00\x00\x00\x05" + lineMark,
	"a.test\x00\x00", "a.test\x00\x00\x00\x00\x00\x00\x00\x00\x05", strings.Repeat("\xff", 7), strings.Repeat("x", 60), "c\x00" + strings.Repeat("x", 60),
}

var strayValues = []string{"", "\xff\x01\x02", "{}", "\x02\x01\x00\x00", "\x03"}

// strayFaults returns faults that put such keys into a store, or change every value of a kind.
func strayFaults() map[string]fault {
	all := make(map[string]fault)
	for _, kind := range []byte(kinds) {
		all[fmt.Sprintf("%c: stray keys", kind)] = func(w *partitionFixture) {
			for i, rest := range strayKeys {
				value := strayValues[i%len(strayValues)]
				w.must(w.store.db.Set(append(table.Prefix(0, kind), rest...), []byte(value), pebble.Sync))
			}
		}
		change := func(how string, to func(value []byte) []byte) {
			all[fmt.Sprintf("%c: values are %s", kind, how)] = damage(func(b *pebble.Batch, key, value []byte) { _ = b.Set(key, to(value), nil) }, kind)
		}
		change("empty", func([]byte) []byte { return nil })
		change("zero", func(v []byte) []byte { return make([]byte, len(v)) })
		change("cut", func(v []byte) []byte { return v[:len(v)/2] })
		change("longer", func(v []byte) []byte { return append(v, 1) })
		for at := range 6 {
			change(fmt.Sprintf("changed at %d/6", at), func(v []byte) []byte {
				for i := at * len(v) / 6; i < (at+1)*len(v)/6; i++ {
					v[i] ^= 0x55
				}
				return v
			})
		}
		all[fmt.Sprintf("%c: keys are cut", kind)] = damage(func(b *pebble.Batch, key, value []byte) {
			_ = b.Delete(key, nil)
			_ = b.Set(key[:3+(len(key)-3)/2], value, nil)
		}, kind)
		all[fmt.Sprintf("%c: keys are longer", kind)] = damage(func(b *pebble.Batch, key, value []byte) {
			_ = b.Delete(key, nil)
			_ = b.Set(append(key, 'x'), value, nil)
		}, kind)
	}
	return all
}

// Whatever value or stray key of any kind the store contains, the partition opens, works and
// answers questions, also when it is opened again.
func TestNoKeyAndNoValueOfTheStoreEndsAPartition(t *testing.T) {
	all := strayFaults()
	for i, name := range slices.Sorted(maps.Keys(all)) {
		if i%oneCaseIn != 0 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newPartitionFixture(t, func(s *crawlspec.Spec) {
				s.Delay, s.MaxDepth, s.GroupBy = second, new(5), crawlspec.GroupByDomain
			})
			fillStore(w)
			all[name](w)
			for range 2 {
				w.restart()
				w.workOn()
			}
		})
	}
}

// fillStore fills the store with records of every kind.
func fillStore(w *partitionFixture) {
	w.seed("https://a.test/0", "https://a.test/1", "https://b.test/0", "https://www.a.test/0")
	w.link(1, "https://c.test/", "https://a.test/2?a=1&b=2", "https://a.test/2?b=2&a=1")
	for _, u := range w.dispatch(10) {
		if u == "https://b.test/0" {
			w.result(u, class(messages.Timeout))
			continue
		}
		w.result(u, nil)
	}
	m := &messages.Candidates{
		Crawl: "c", Source: messages.SourceLink, Referrer: "https://a.test/0", Depth: 1, PageRound: 1,
		URLs: []messages.Candidate{{URL: "https://a.test/3"}}, Ends: messages.Visit{URL: messages.HashURL("https://a.test/0"), Round: 1},
	}
	_, err := w.part.ApplyCandidates(m, 1, w.at())
	w.must(err)
	w.must(w.part.discovery.noteUnchanged(&messages.Candidates{Crawl: "c", Referrer: "https://a.test/0", PageRound: 1, Depth: 0, Run: 1}))
	w.must(w.part.scope.addScopeRoots("c", "https://d.test/"))
	_, err = w.part.ApplyCandidates(&messages.Candidates{
		Crawl: "c", Source: messages.SourceSeed, URLs: []messages.Candidate{{URL: "https://a.test/4", Metadata: messages.Metadata{"a": "1"}, Inherit: true}},
	}, 1, w.at())
	w.must(err)
	_, err = w.part.ApplyCandidates(&messages.Candidates{
		Crawl: "c", Source: messages.SourceLink, Depth: 1, URLs: []messages.Candidate{{URL: "https://a.test/5"}}, Metadata: messages.Metadata{"a": "1"}, Inherit: true,
	}, 1, w.at())
	w.must(err)
	w.part.tx.SetJSON(w.part.Removals.key("deleted"), &removal{Began: 1})
	w.must(w.part.Commit(w.at()))
	w.pass(2 * time.Second)
	w.dispatch(10)
}

// workOn runs some turns, and answers requests and questions.
func (w *partitionFixture) workOn() {
	w.t.Helper()
	w.part.replaying = true
	defer func() { w.part.replaying = false }()
	for range 4 {
		w.dispatch(10)
		for id, req := range maps.Clone(w.part.urls.inFlight) {
			_, err := w.part.Requests.Message(req)
			w.must(err)
			w.must(w.part.ApplyResult(&messages.Result{
				Crawl: id.crawl, URL: req.URL, Visit: messages.Visit{URL: id.hash, Round: req.Round}, Attempt: req.Sent, Class: messages.OK, Status: 200,
			}, w.at()))
			w.must(w.part.Commit(w.at()))
		}
		_, err := w.part.Questions.status("c")
		w.must(err)
		_, err = w.part.schedule.hasDueHost("c", w.at())
		w.must(err)
		_, err = w.part.Questions.Slowest("", 3)
		w.must(err)
		w.pass(time.Minute)
	}
	w.seed("https://e.test/", "https://a.test/0")
	change := func(s *crawlspec.Spec) { s.MaxDepth = new(*s.MaxDepth + 1) }
	w.change(change)
	w.tend()
}

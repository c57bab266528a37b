package state

import (
	"fmt"
	"testing"

	"seine/internal/frontier/table"
	"seine/pkg/crawlspec"
	"seine/pkg/stages/frontier/frontierapi"
)

func TestSeedsAreInScopeWhicheverItBecomes(t *testing.T) {
	const seed, beside, link = "https://www.a.test/", "https://www.a.test/1", "https://x.a.test/"
	for _, scopes := range [][2]crawlspec.Scope{
		{crawlspec.ScopeHost, crawlspec.ScopeDomain}, {crawlspec.ScopeDomain, crawlspec.ScopeHost},
		{crawlspec.ScopeAny, crawlspec.ScopeHost}, {crawlspec.ScopeAny, crawlspec.ScopeDomain}, {crawlspec.ScopeHost, crawlspec.ScopeAny},
	} {
		t.Run(fmt.Sprintf("%s to %s", scopes[0], scopes[1]), func(t *testing.T) {
			w := newPartitionFixture(t, func(s *crawlspec.Spec) { s.Scope = scopes[0] })
			w.seed(seed)
			w.link(1, beside, link, "https://b.test/")
			w.change(func(s *crawlspec.Spec) { s.Scope = scopes[1] })
			w.restart()
			w.tend()
			w.link(1, "https://www.a.test/later")
			for _, url := range []string{seed, beside, "https://www.a.test/later"} {
				w.wantState(url, Queued, "")
			}
			if scopes[1] == crawlspec.ScopeHost {
				w.wantState(link, Excluded, frontierapi.ReasonScope)
			} else {
				w.wantState(link, Queued, "")
			}
		})
	}
}

// A host that is opened after the scope has changed gets the URLs that the former scope had
// excluded.
func TestSeedAdmitsWhatAnotherScopeHasExcluded(t *testing.T) {
	for _, scopes := range [][2]crawlspec.Scope{{crawlspec.ScopeHost, crawlspec.ScopeDomain}, {crawlspec.ScopeDomain, crawlspec.ScopeHost}} {
		w := newPartitionFixture(t, func(s *crawlspec.Spec) { s.Scope = scopes[0] })
		w.seed("https://a.test/")
		w.link(1, "https://www.b.test/1")
		w.change(func(s *crawlspec.Spec) { s.Scope = scopes[1] })
		w.tend()
		w.wantState("https://www.b.test/1", Excluded, frontierapi.ReasonScope)
		w.seed("https://www.b.test/")
		w.tend()
		w.wantState("https://www.b.test/1", Queued, "")
	}
}

// A store may have lost which hosts are barred: no record derives that.
func TestAuditNotesBarredHosts(t *testing.T) {
	w := newPartitionFixture(t, func(s *crawlspec.Spec) { s.Scope = crawlspec.ScopeDomain })
	w.seed("https://a.test/")
	w.link(1, "https://www.b.test/1")
	damage(remove, kindBarred)(w)
	w.restart()
	w.part.audit("c")
	w.must(w.part.Commit(w.at()))
	w.tend()
	w.seed("https://b.test/")
	w.tend()
	w.wantState("https://www.b.test/1", Queued, "")
}

// URLs that wait for a host, or for the hosts of a domain, are admitted in steps, which continue
// after a restart.
func TestHostIsOpenedInSteps(t *testing.T) {
	if withRace {
		t.Skip("runs without the race detector")
	}
	t.Run("host", func(t *testing.T) { testOpening(t, crawlspec.ScopeHost, "https://b.test/%d") })
	t.Run("domain", func(t *testing.T) { testOpening(t, crawlspec.ScopeDomain, "https://h%d.b.test/") })
}

func testOpening(t *testing.T, scope crawlspec.Scope, format string) {
	w := newPartitionFixture(t, func(s *crawlspec.Spec) { s.Scope = scope })
	w.seed("https://a.test/")
	const most = 2*reviewed + 500
	var urls []string
	for i := range most {
		urls = append(urls, fmt.Sprintf(format, i))
	}
	w.link(1, urls...)
	w.seed("https://b.test/")
	queued := func() int64 { return w.part.crawls.get("c").Queued - 2 }
	if n := queued(); n != 0 {
		t.Fatalf("%d URLs were taken back in the turn of the seed", n)
	}
	for turn := int64(1); w.part.TimersPending(); turn++ {
		before := queued()
		w.must(w.part.RunTimers(w.at()))
		if n := len(w.part.tx.changed); n > reviewed {
			t.Fatalf("%d URLs in one turn", n)
		}
		if turn%2 == 0 { // a turn that is not committed has no effect
			w.restart()
			if n := queued(); n != before {
				t.Fatalf("%d URLs are queued after a crash, want %d", n, before)
			}
			w.must(w.part.RunTimers(w.at()))
		}
		w.must(w.part.Commit(w.at()))
		if turn > 30 {
			t.Fatal("it does not end")
		}
	}
	if n := queued(); n != most {
		t.Errorf("%d URLs are queued, want %d", n, most)
	}
	entries := 0
	w.must(w.store.scan(table.Prefix(0, kindQueue), nil, func(_, _ []byte) (bool, error) { entries++; return true, nil }))
	if entries != most+2 {
		t.Errorf("%d URLs are in queues, want %d", entries, most+2)
	}
}

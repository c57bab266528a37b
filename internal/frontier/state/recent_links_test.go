package state

import (
	"fmt"
	"testing"

	"seine/pkg/messages"
)

func TestRecentCoversOnlyWhatSaysNothingNew(t *testing.T) {
	h, other := messages.HashURL("https://a.test/1"), messages.HashURL("https://a.test/2")
	known := urlRecord{Depth: 3, rareFields: rareFields{Own: 5}, Run: 7}
	const salt, run = 42, 7
	table := newRecentLinks(0)
	table.add(&known, run, salt, h)
	for _, c := range []struct {
		what  string
		r     urlRecord
		run   int64
		salt  uint64
		hash  messages.URLHash
		cover bool
	}{
		{"the same", known, run, salt, h, true},
		{"of an earlier run, farther and less urgent", urlRecord{Depth: 4, rareFields: rareFields{Own: 9}, Run: 6}, run, salt, h, true},
		{"nearer", urlRecord{Depth: 2, rareFields: rareFields{Own: 5}, Run: 7}, run, salt, h, false},
		{"more urgent", urlRecord{Depth: 3, rareFields: rareFields{Own: 4}, Run: 7}, run, salt, h, false},
		{"of a later run", urlRecord{Depth: 3, rareFields: rareFields{Own: 5}, Run: 8}, run, salt, h, false},
		{"a seed", urlRecord{Depth: 3, rareFields: rareFields{Own: 5}, Run: 7, Seed: true}, run, salt, h, false},
		{"another URL", known, run, salt, other, false},
		{"another crawl or run", known, run, salt + 1, h, false},
	} {
		if got := table.covers(&c.r, c.run, c.salt, c.hash); got != c.cover {
			t.Errorf("%s: covered %v, want %v", c.what, got, c.cover)
		}
	}
	table.add(&urlRecord{Depth: 1, rareFields: rareFields{Own: 1}, Run: run}, run, salt, h)
	if !table.covers(&urlRecord{Depth: 1, rareFields: rareFields{Own: 1}, Run: run}, run, salt, h) {
		t.Error("what was added last does not count")
	}
	table.add(&urlRecord{Depth: 1, Run: run - 1}, run, salt, other)
	table.add(&urlRecord{Depth: 1 << depthBits, Run: run}, run, salt, other)
	if table.covers(&urlRecord{Depth: 1 << 20, rareFields: rareFields{Own: 9}, Run: run}, run, salt, other) {
		t.Error("covers a URL that the run has not found, or one that is too deep to tell")
	}
}

// The table remembers the same URLs after it has grown.
func TestRecentForgetsNothingAsItGrows(t *testing.T) {
	table := newRecentLinks(1 << 20)
	r := &urlRecord{Depth: 1}
	for i := range leastRecent {
		table.add(r, 0, 1, messages.HashURL(fmt.Sprint(i)))
	}
	known := func() (n int) {
		for i := range leastRecent {
			if table.covers(r, 0, 1, messages.HashURL(fmt.Sprint(i))) {
				n++
			}
		}
		return n
	}
	before := known()
	table.resize(4 * leastRecent)
	if after := known(); before < leastRecent/2 || after != before {
		t.Errorf("it remembers %d of %d URLs, and %d after it has grown", before, leastRecent, after)
	}
}

// The table grows to its limit, and then remembers most of as many URLs.
func TestRecentIsBounded(t *testing.T) {
	if withRace {
		t.Skip("runs without the race detector")
	}
	const most = 1 << 16
	table := newRecentLinks(most * recentBytes)
	hash := func(i int) messages.URLHash { return messages.HashURL(fmt.Sprintf("https://h%d.test/%d", i%100, i)) }
	r := &urlRecord{Depth: 1}
	for i := range 3 * most {
		table.add(r, 0, 1, hash(i))
	}
	if len(table.tags) != most || len(table.what) != most {
		t.Fatalf("%d entries, want %d", len(table.tags), most)
	}
	found := 0
	for i := 2 * most; i < 3*most; i++ {
		if table.covers(r, 0, 1, hash(i)) {
			found++
		}
	}
	t.Logf("remembers %.1f %% of the last %d", 100*float64(found)/most, most)
	if found < most/2 {
		t.Errorf("remembers %d of the last %d", found, most)
	}
}

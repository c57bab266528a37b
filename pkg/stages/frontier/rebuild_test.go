package frontier

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"seine/pkg/messages"
	"seine/pkg/stages/frontier/state"
)

// rebuild makes the state of partition 0 again in a store, which is nobody's.
func (t *takeoverFixture) rebuild(s *state.Store) (*RebuildResult, error) {
	t.t.Helper()
	r, err := NewRebuilder(t.t.Context(), t.bus, t.specs, s)
	t.must(err)
	return r.Rebuild(t.t.Context(), 0)
}

// wantAside checks that a store has what the live one has, and knows that whoever
// goes on with it has sent nothing yet. Retries wait anew, so what waits for one
// and what is queued again is not told apart.
func (t *takeoverFixture) wantAside(s, live *state.Store) {
	t.t.Helper()
	if _, isNew, err := s.Origin(0); err != nil || !isNew {
		t.t.Errorf("the state is not marked as one that came from elsewhere: %v", err)
	}
	of := func(s *state.Store) (all []string) {
		for _, line := range t.dump(s, 'P', 'U', 'I', 'E', 'A', 'B') {
			all = append(all, strings.Replace(line, "State:waiting", "State:queued", 1))
		}
		slices.Sort(all)
		return all
	}
	got, want := of(s), of(live)
	if len(want) < 50 {
		t.t.Errorf("only %d keys were compared", len(want))
	}
	for i := range want {
		if i >= len(got) || got[i] != want[i] {
			t.t.Fatalf("of %d and %d keys the first that differ are\n%s\nwant\n%s", len(got), len(want), got[min(i, len(got)-1)], want[i])
		}
	}
	if len(got) != len(want) {
		t.t.Errorf("it has %d keys, want %d", len(got), len(want))
	}
}

// TestStateIsMadeAgainBesideTheLiveOne has requests under way, and an owner that is
// at work: it sees nothing of it.
func TestStateIsMadeAgainBesideTheLiveOne(t *testing.T) {
	t.Parallel()
	a := newTakeoverFixture(t)
	live, aside := a.store(), a.store()
	owner := a.own(live, 1, time.Hour)
	a.seedHosts(12)
	a.live(40, "before")
	owner.handOver() // the snapshot is of here
	a.own(live, 2, time.Hour)
	a.live(60, "after")
	a.settled(live)
	sent, bound := lastOf(t, a, messages.StreamFetch), a.bound()
	out, err := a.rebuild(aside)
	a.must(err)
	a.wantAside(aside, live)
	st, _ := a.status()
	if c := out.Crawls["c"]; c.Known() != st.Counters.Known() || c.InFlight != st.Counters.InFlight || c.InFlight == 0 || c.Done != st.Counters.Done {
		t.Errorf("the state has %+v, the live one %+v", c, st.Counters)
	}
	if out.Snapshot.IsZero() || out.Messages < 60 || out.Hosts != 12 || int64(out.Requests) != st.Counters.InFlight {
		t.Errorf("made of %+v", out)
	}
	if n := lastOf(t, a, messages.StreamFetch); n != sent || a.bound() != bound {
		t.Errorf("%d requests were sent, and the partition is bound to %s, was to %s", n-sent, a.bound(), bound)
	}
	a.take(1)[0].ends(messages.Gone) // the owner goes on
	a.settled(live)
}

func (t *takeoverFixture) bound() string {
	t.t.Helper()
	b, err := t.frontier(t.store(), 0).snapshots.Binding(t.t.Context(), 0)
	t.must(err)
	return b.Store
}

func TestStateIsMadeAgainOfWholeStreamsOrNotAtAll(t *testing.T) {
	t.Parallel()
	a := newTakeoverFixture(t)
	live, aside := a.store(), a.store()
	owner := a.own(live, 1, 0)
	a.seedHosts(12)
	a.live(50, "page")
	a.settled(live)
	a.must(owner.die())
	out, err := a.rebuild(aside)
	a.must(err)
	a.wantAside(aside, live)
	if !out.Snapshot.IsZero() {
		t.Errorf("made of %+v, and there is no snapshot", out)
	}
	urls, err := a.bus.JS.Stream(t.Context(), messages.StreamURLs)
	a.must(err)
	a.must(urls.Purge(t.Context(), jetstream.WithPurgeSequence(3)))
	if out, err := a.rebuild(aside); !errors.Is(err, ErrPurged) {
		t.Errorf("of streams that were purged: %+v, %v", out, err)
	}
	if _, err := NewRebuilder(t.Context(), a.bus, a.specs, live); !errors.Is(err, ErrLive) {
		t.Errorf("in the store of the owner: %v", err)
	}
}

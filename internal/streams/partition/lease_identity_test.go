package partition

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"seine/internal/testing/await"
	"seine/internal/testing/stagestest"
	"seine/pkg/messages"
)

// A second process with the identity of a running one, as with a copied --state, acquires nothing
// and ends with the reason. The first keeps its leases, and the shares of others do not change.
func TestLeases_SameIdentityTwice_SecondRefuses(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]func(*Leases){
		"all":    func(*Leases) {},
		"fair":   func(l *Leases) { l.Fair = true },
		"pinned": func(l *Leases) { l.Pinned = []int{1, 5} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			br, b := openLeases(t)
			r := &register{t: t}
			first := newLeases(b, "a", r, 0)
			set(first)
			await.Start(t, first.Run)
			want := 8
			if first.Pinned != nil {
				want = 2
			}
			await.Eventually(t, "the first has its partitions", func() bool { return r.count()["a"] == want })
			b2, _ := stagestest.Dial(t, br.URL())
			second := newLeases(b2, "a", r, 0)
			set(second)
			err := await.Start(t, second.Run).Wait()
			if !errors.Is(err, ErrTwin) || !strings.Contains(err.Error(), "process ") {
				t.Errorf("the second ends with %v, want ErrTwin", err)
			}
			if n, moves := r.owned(); n != want || moves != want {
				t.Errorf("%d partitions have an owner, after %d moves", n, moves)
			}
			if first.Fair || first.Pinned != nil {
				if _, err := first.kv.Get(t.Context(), first.memberKey()); err != nil {
					t.Errorf("the first is no member any more: %v", err)
				}
			}
		})
	}
}

// Two processes that start at the same moment do not find each other. The one whose lease is taken
// ends, and releases nothing that belongs to the other.
func TestLeases_TakenByTheSameIdentity_Ends(t *testing.T) {
	t.Parallel()
	br, b := openLeases(t)
	l := fairLeases(b, "a", &register{t: t}, 2)
	j := await.Start(t, l.Run)
	await.Eventually(t, "it has both", func() bool { return len(l.Owned()) == 2 })
	b2, _ := stagestest.Dial(t, br.URL())
	kv, err := b2.Bucket(t.Context(), messages.BucketLeases)
	if err != nil {
		t.Fatal(err)
	}
	other := messages.Encode(leaseValue{Owner: "a", Since: time.Now(), Run: "another"})
	for _, key := range []string{l.memberKey(), l.key(1)} {
		if _, err := kv.Put(t.Context(), key, other); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Wait(); !errors.Is(err, ErrTwin) {
		t.Errorf("it ends with %v, want ErrTwin", err)
	}
	for key, left := range map[string]bool{l.key(0): false, l.key(1): true, l.memberKey(): true} {
		if _, err := kv.Get(t.Context(), key); (err == nil) != left {
			t.Errorf("%s: %v, left: %v", key, err, left)
		}
	}
}

// After a kill a process has its leases back at once: no lease expires during the test.
func TestLeases_KilledAndBack_TakenAtOnce(t *testing.T) {
	t.Parallel()
	br, b := openLeasesFor(t, time.Hour)
	begin := func(r *register) *Leases {
		b, _ := stagestest.Dial(t, br.URL())
		l := fairLeases(b, "a", r, 8)
		l.ttl = time.Hour
		return l
	}
	killed := begin(&register{t: t})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() { _ = killed.Run(ctx) }()
	await.Eventually(t, "it has all", func() bool { return len(killed.Owned()) == 8 })
	killed.Bus.NC.Close()
	r := &register{t: t}
	await.Start(t, begin(r).Run)
	await.Eventually(t, "it has all again", func() bool { return r.count()["a"] == 8 })
	_ = b
}

// A process that does not answer, but whose connection the server still has, delays the next one
// until the leases have expired.
func TestLeases_FormerProcessDoesNotAnswer_WaitedOut(t *testing.T) {
	t.Parallel()
	const ttl = 2 * time.Second
	br, b := openLeasesFor(t, ttl)
	silent, _ := stagestest.Dial(t, br.URL())
	s, err := silent.NC.SubscribeSync(messages.SubjectOwner("frontier", "a"))
	if err == nil {
		err = silent.NC.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	r := &register{t: t}
	l := newLeases(b, "a", r, 0)
	l.ttl = ttl
	await.Start(t, l.Run)
	await.Eventually(t, "it has all", func() bool { return r.count()["a"] == 8 })
	if n, _, err := s.Pending(); n < 2 || err != nil {
		t.Errorf("the former was asked %d times, %v", n, err)
	}
}

package stages

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"seine/internal/testing/await"
	"seine/internal/testing/natstest"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

func openSpecs(t *testing.T) (*Specs, *await.Log) {
	t.Helper()
	br := natstest.NewBroker(t)
	b, log := dial(t, br.URL())
	if err := b.Provision(t.Context(), 4, messages.DefaultStreamLimits(), 1); err != nil {
		t.Fatal(err)
	}
	s, err := OpenSpecs(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	return s, log
}

func get(t *testing.T, s *Specs, crawl string, rev uint64) crawlspec.Revision {
	t.Helper()
	r, err := s.Get(t.Context(), crawl, rev)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func put(t *testing.T, s *Specs, crawl string, delay time.Duration) uint64 {
	t.Helper()
	spec := crawlspec.Default()
	spec.Delay = crawlspec.Duration(delay)
	rev, err := s.Put(t.Context(), crawl, &spec)
	if err != nil {
		t.Fatal(err)
	}
	return rev
}

func TestSpecsFollow(t *testing.T) {
	t.Parallel()
	s, _ := openSpecs(t)
	changed := make(chan string, 10)
	await.Start(t, func(ctx context.Context) error { return s.Run(ctx, func(c string) { changed <- c }) })
	if r := get(t, s, "news", 0); r.Rev != 0 || r.Delay != crawlspec.DefaultDelay {
		t.Errorf("a crawl without a spec has %+v", r)
	}
	first := put(t, s, "news", 2*time.Second)
	if c := <-changed; c != "news" {
		t.Errorf("%s changed", c)
	}
	if r := get(t, s, "news", 0); r.Rev != first || r.Delay != crawlspec.Duration(2*time.Second) {
		t.Errorf("after a change %+v", r)
	}
	if again := put(t, s, "news", 2*time.Second); again != first {
		t.Errorf("the same spec is stored again as %d", again)
	}
	second := put(t, s, "news", 3*time.Second)
	if c := <-changed; c != "news" || second <= first {
		t.Errorf("%s changed to revision %d", c, second)
	}
	if r := get(t, s, "news", first); r.Rev != second {
		t.Errorf("the newest is %d, got %d", second, r.Rev)
	}
}

// A message may arrive before the update of the spec that it was made under.
func TestSpecsNewerThanKnown(t *testing.T) {
	t.Parallel()
	s, _ := openSpecs(t) // does not follow changes
	get(t, s, "news", 0)
	rev := put(t, s, "news", 2*time.Second)
	if r := get(t, s, "news", rev); r.Rev != rev || r.Delay != crawlspec.Duration(2*time.Second) {
		t.Errorf("asked for revision %d, got %d", rev, r.Rev)
	}
	// If no reader has that revision, the newest one is returned.
	if r := get(t, s, "news", rev+100); r.Rev != rev {
		t.Errorf("got revision %d", r.Rev)
	}
}

func TestSpecsInvalid(t *testing.T) {
	t.Parallel()
	s, log := openSpecs(t)
	changed := make(chan string, 10)
	await.Start(t, func(ctx context.Context) error { return s.Run(ctx, func(c string) { changed <- c }) })
	good := put(t, s, "news", 2*time.Second)
	<-changed
	bad, err := s.kv.Put(t.Context(), "news", []byte(`{"v":1,"delay":"never"}`))
	if err != nil {
		t.Fatal(err)
	}
	await.Eventually(t, "it is logged", func() bool { return log.Has("spec ignored") && log.Has("never") })
	await.Eventually(t, "it is noted", func() bool { return get(t, s, "news", bad).Unusable != "" })
	if r := get(t, s, "news", bad); r.Rev != good || r.Stalled {
		t.Errorf("got revision %d, the last good one is %d", r.Rev, good)
	}
	if _, err := s.kv.Put(t.Context(), "broken", []byte("{")); err != nil {
		t.Fatal(err)
	}
	if r := get(t, s, "broken", 0); !r.Stalled {
		t.Errorf("a crawl without a usable spec has %+v, want it to stand still", r)
	}
	// A process that starts now finds the last usable one in the history.
	again, err := OpenSpecs(t.Context(), s.bus)
	if err != nil {
		t.Fatal(err)
	}
	if r := get(t, again, "news", 0); r.Rev != good {
		t.Errorf("got revision %d from the history, the last good one is %d", r.Rev, good)
	}
	next := put(t, s, "news", 4*time.Second)
	if c := <-changed; c != "news" {
		t.Errorf("%s changed", c)
	}
	if r := get(t, s, "news", 0); r.Rev != next {
		t.Errorf("got revision %d, want %d", r.Rev, next)
	}
}

// A crawl whose only specs are unusable is stalled for every reader, is reported once, and
// continues with the next usable spec.
func TestCrawlWithoutASpecThatCanBeUsedStandsStill(t *testing.T) {
	t.Parallel()
	s, log := openSpecs(t)
	changed := make(chan string, 10)
	await.Start(t, func(ctx context.Context) error { return s.Run(ctx, func(c string) { changed <- c }) })
	if r := get(t, s, "news", 0); r.Stalled || r.State != crawlspec.Running {
		t.Errorf("without a spec it has %+v", r)
	}
	bad, err := s.kv.Put(t.Context(), "news", []byte(`{"v":1,"scope":"galaxy"}`))
	if err != nil {
		t.Fatal(err)
	}
	<-changed // it used the defaults, which are not what its owner wants
	again, err := OpenSpecs(t.Context(), s.bus)
	if err != nil {
		t.Fatal(err)
	}
	for who, specs := range map[string]*Specs{"a stage that runs": s, "one that starts": again} {
		for range 3 {
			r := get(t, specs, "news", bad)
			if !r.Stalled || r.Rev != bad || r.State != crawlspec.Paused || !strings.Contains(r.Unusable, "galaxy") || !errors.Is(r.Blocked(), crawlspec.ErrStandsStill) {
				t.Errorf("%s has %+v", who, r)
			}
		}
	}
	if n := strings.Count(log.String(), "spec ignored"); n != 2 {
		t.Errorf("two processes told it %d times", n)
	}
	if _, err := s.Change(t.Context(), "news", func(*crawlspec.Spec) error { return nil }); err == nil {
		t.Error("what cannot be read is replaced by a change of it")
	}
	good := put(t, s, "news", 2*time.Second)
	<-changed
	if r := get(t, s, "news", 0); r.Rev != good || r.Stalled || r.Unusable != "" || r.Blocked() != nil {
		t.Errorf("when it is mended it has %+v", r)
	}
	if r := get(t, again, "news", good); r.Rev != good || r.Stalled {
		t.Errorf("who started before it was mended has %+v", r)
	}
}

// A page of a stalled crawl is retried for longer than one that fails.
func TestWorkOfACrawlThatStandsStillIsNotGivenUpSoon(t *testing.T) {
	t.Parallel()
	err := crawlspec.Revision{}.Stall("bad").Blocked()
	total := time.Duration(0)
	for n := uint64(1); n <= messages.MaxCrashes; n++ {
		wait, ok := retryAfter(fmt.Errorf("parse: %w", err), n)
		if total += wait; !ok {
			t.Errorf("given up after %d tries", n)
		}
	}
	if total < 40*time.Minute {
		t.Errorf("it is kept for %s in all", total)
	}
}

func TestSpecsServerAway(t *testing.T) {
	t.Parallel()
	br := natstest.NewBroker(t)
	b, _ := dial(t, br.URL())
	if err := b.Provision(t.Context(), 4, messages.DefaultStreamLimits(), 1); err != nil {
		t.Fatal(err)
	}
	s, err := OpenSpecs(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	changed := make(chan string, 10)
	await.Start(t, func(ctx context.Context) error { return s.Run(ctx, func(c string) { changed <- c }) })
	rev := put(t, s, "news", 2*time.Second)
	<-changed
	br.Stop()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if r, err := s.Get(ctx, "news", rev); err != nil || r.Rev != rev {
		t.Errorf("what is known: %v, %v", r, err)
	}
	if _, err := s.Get(ctx, "other", 0); err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("what is not known: %v", err)
	} else if IsPoison(err) {
		t.Errorf("not transient: %v", err)
	}
	br.Start()
	b2, _ := dial(t, br.URL())
	s2, err := OpenSpecs(t.Context(), b2)
	if err != nil {
		t.Fatal(err)
	}
	put(t, s2, "news", 3*time.Second)
	select {
	case <-changed:
	case <-time.After(await.Patience):
		t.Error("changes are no longer followed")
	}
}

package frontier

import (
	"context"
	"sync"
	"testing"
	"time"

	"seine/internal/streams/jsclient"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
)

// endedCrawl gives crawl "c" a spec that excludes all URLs, and a seed, and waits until it has
// ended long enough ago to be due.
func (t *takeoverFixture) endedCrawl(change func(*crawlspec.Spec)) {
	t.t.Helper()
	spec := crawlspec.Default()
	spec.Exclude, spec.Keep = []string{"*"}, crawlspec.MinKeep
	if change != nil {
		change(&spec)
	}
	_, err := t.specs.Put(t.t.Context(), "c", &spec)
	t.must(err)
	t.publish(messages.SubjectSeeds("c"), "", []byte("https://one.test/"))
}

// due waits until the time of crawl "c" is over.
func (t *takeoverFixture) due() {
	t.t.Helper()
	client := frontierapi.Client{Bus: t.bus}
	t.eventually("the crawl is due", func() bool {
		spec, err := t.specs.GetSure(t.t.Context(), "c")
		t.must(err)
		end, c, err := client.CheckEnded(t.t.Context(), "c", spec.Spec)
		if err != nil {
			return false
		}
		at, err := client.Expiry(t.t.Context(), "c", spec, end, &c.Counters)
		t.must(err)
		return !at.IsZero() && time.Now().After(at)
	})
}

// stepwise returns a frontier whose partitions work and whose intake reads seeds, but which deletes
// nothing by itself.
func (t *takeoverFixture) stepwise() *Frontier {
	t.t.Helper()
	f := t.frontier(t.store(), 0)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	for _, part := range []func(context.Context) error{f.leases.Run, f.serve, func(ctx context.Context) error { return (seedIntake{f}).worker().Run(ctx) }} {
		running.Go(func() {
			if err := part(ctx); err != nil {
				t.t.Errorf("frontier: %v", err)
			}
		})
	}
	t.t.Cleanup(func() { cancel(); running.Wait() })
	return f
}

// A crawl that has ended is deleted when its keep is over, and no other.
func TestEndedCrawlIsDeletedWhenItsTimeIsOver(t *testing.T) {
	t.Parallel()
	a := newTakeoverFixture(t)
	for _, name := range []string{"forever", "scheduled"} {
		spec := crawlspec.Default()
		spec.Exclude = []string{"*"}
		if name == "scheduled" {
			spec.Keep, spec.Schedule = crawlspec.MinKeep, "@every 1000h"
		}
		_, err := a.specs.Put(t.Context(), name, &spec)
		a.must(err)
		a.publish(messages.SubjectSeeds(name), "", []byte("https://one.test/"))
	}
	a.endedCrawl(nil)
	a.run(a.store(), 0)
	a.eventually("it is deleted", func() bool { d := a.specs.Deletion("c"); return d != nil && d.Done })
	if left := a.subjectsLeft("c"); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
	client := frontierapi.Client{Bus: a.bus}
	for _, name := range []string{"forever", "scheduled"} {
		if st, err := client.Status(t.Context(), name); err != nil || st.Known() != 1 || a.specs.Deletion(name) != nil {
			t.Errorf("crawl %s: %+v, %v", name, st, err)
		}
	}
}

// A crawl is due when its keep has passed since it ended, got seeds, or its spec changed, whichever
// came last.
func TestTimeOfACrawlCountsFromTheLastThingThatHappened(t *testing.T) {
	t.Parallel()
	a := newTakeoverFixture(t)
	client := frontierapi.Client{Bus: a.bus}
	at := func(end frontierapi.EndReason, c *frontierapi.Counters, change func(*crawlspec.Revision)) time.Time {
		t.Helper()
		spec := crawlspec.Revision{Spec: new(crawlspec.Default()), Time: time.UnixMilli(1000)}
		spec.Keep = crawlspec.Duration(time.Minute)
		if change != nil {
			change(&spec)
		}
		got, err := client.Expiry(t.Context(), "c", spec, end, c)
		a.must(err)
		return got
	}
	ended := &frontierapi.Counters{Started: 500, Changed: 2000}
	want := func(what string, got, want time.Time) {
		t.Helper()
		if !got.Equal(want) {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	want("not ended", at(frontierapi.NotEnded, ended, nil), time.Time{})
	want("never fed", at(frontierapi.Empty, &frontierapi.Counters{}, nil), time.Time{})
	want("kept for ever", at(frontierapi.Complete, ended, func(r *crawlspec.Revision) { r.Keep = 0 }), time.Time{})
	want("ended", at(frontierapi.Complete, ended, nil), time.UnixMilli(62_000))
	want("spec changed since", at(frontierapi.PagesLimit, ended, func(r *crawlspec.Revision) { r.Time = time.UnixMilli(3000) }), time.UnixMilli(63_000))
	want("time limit", at(frontierapi.TimeLimit, ended, func(r *crawlspec.Revision) { r.MaxDuration = crawlspec.Duration(time.Hour) }), time.UnixMilli(3_660_500))
	a.publish(messages.SubjectSeeds("c"), "", []byte("https://one.test/"))
	fed, err := a.bus.ReadFromLeader(t.Context(), messages.StreamSeeds, jsclient.Lookup{Last: messages.SubjectSeeds("c")})
	a.must(err)
	want("fed since", at(frontierapi.Complete, ended, nil), fed.Time.Add(time.Minute))
}

// A seed that arrives between the check that a crawl has ended and its deletion prevents the
// deletion.
func TestSeedThatComesBeforeTheDeletionKeepsTheCrawl(t *testing.T) {
	t.Parallel()
	a := newTakeoverFixture(t)
	a.endedCrawl(nil)
	f := a.stepwise()
	a.due()
	rev, now, err := a.specs.Expiry.Now(t.Context())
	a.must(err)
	d, at, err := expirer{f}.judge(t.Context(), "c")
	a.must(err)
	if at.IsZero() || now.Before(at) {
		t.Fatal("it is not due")
	}
	a.publish(messages.SubjectSeeds("c"), "", []byte("https://two.test/"))
	client := frontierapi.Client{Bus: a.bus}
	a.eventually("the seed is known", func() bool {
		st, err := client.Status(t.Context(), "c")
		return err == nil && st.Known() == 2
	})
	if _, err := a.specs.Expiry.Delete(t.Context(), "c", d, rev); !jsclient.IsConflict(err) {
		t.Errorf("deleted: %v", err)
	}
}

// If a crawl is deleted between the publishing of a seed and its acknowledgement, the seed belongs
// to the next crawl.
func TestSeedThatComesWithTheDeletionIsOfTheNextCrawl(t *testing.T) {
	t.Parallel()
	a := newTakeoverFixture(t)
	a.endedCrawl(func(s *crawlspec.Spec) { s.Keep = crawlspec.Duration(time.Hour) })
	f := a.stepwise()
	client := frontierapi.Client{Bus: a.bus}
	a.eventually("the first seed is known", func() bool {
		st, err := client.Status(t.Context(), "c")
		return err == nil && st.Known() == 1
	})
	spec, err := a.specs.GetSure(t.Context(), "c")
	a.must(err)
	exists, err := a.specs.Expiry.Fed(t.Context(), "c", spec)
	if err != nil || !exists {
		t.Fatalf("it exists: %v, %v", exists, err)
	}
	rev, err := deletions{f}.deleteCrawl(t.Context(), "c")
	a.must(err)
	exists, err = a.specs.Expiry.Fed(t.Context(), "c", spec)
	if err != nil || exists {
		t.Fatalf("after the deletion it exists: %v, %v", exists, err)
	}
	a.publish(messages.SubjectSeeds("c"), "", []byte("https://two.test/"))
	var reqs []*messages.Request
	a.eventually("the seed is sent", func() bool { reqs = append(reqs, a.takeRequests(1)...); return len(reqs) > 0 })
	if r := reqs[0]; r.URL != "https://two.test/" || r.Rev < rev || r.Run == 0 {
		t.Errorf("request %+v after the deletion at revision %d", r, rev)
	}
}

// Any change in the bucket of specs after the crawl was checked prevents its deletion: a changed
// spec, seeds, a deletion by another frontier.
func TestCrawlIsDeletedOnlyIfNothingHasChanged(t *testing.T) {
	t.Parallel()
	for what, change := range map[string]func(a *takeoverFixture, f *Frontier){
		"spec": func(a *takeoverFixture, _ *Frontier) {
			_, err := a.specs.Change(a.t.Context(), "c", func(s *crawlspec.Spec) error { s.Keep = 0; return nil })
			a.must(err)
		},
		"fed": func(a *takeoverFixture, _ *Frontier) {
			_, err := a.specs.Expiry.Fed(a.t.Context(), "c", crawlspec.Revision{})
			a.must(err)
		},
		"deleted by another": func(a *takeoverFixture, f *Frontier) {
			_, err := expirer{f}.expire(a.t.Context(), "c")
			a.must(err)
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			a := newTakeoverFixture(t)
			a.endedCrawl(nil)
			f := a.stepwise()
			a.due()
			rev, now, err := a.specs.Expiry.Now(t.Context())
			a.must(err)
			d, at, err := expirer{f}.judge(t.Context(), "c")
			a.must(err)
			if at.IsZero() || now.Before(at) {
				t.Fatal("it is not due")
			}
			change(a, f)
			if _, err := a.specs.Expiry.Delete(t.Context(), "c", d, rev); !jsclient.IsConflict(err) {
				t.Errorf("deleted: %v", err)
			}
		})
	}
}

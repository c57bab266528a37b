package frontier

import (
	"slices"
	"strings"
	"testing"
	"time"

	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
)

// A crawl whose spec cannot be used stands still: nothing is sent, nothing decided for
// good, and the partition has nothing to do with it. When the spec is mended, what came
// meanwhile is judged by it.
func TestCrawlWhoseSpecCannotBeUsedStandsStill(t *testing.T) {
	t.Parallel()
	w := newShardFixture(t, func(s *crawlspec.Spec) { s.Exclude, s.MaxDepth = []string{"*/private/*"}, new(1) })
	w.seed("https://a.test/1", "https://a.test/2")
	w.wantSent(w.dispatch(1), "https://a.test/1")
	mended := w.current
	w.gen++
	still, err := compile(crawlspec.Revision{Rev: w.gen}.StandStill("bad"))
	w.must(err)
	w.current = still
	w.wantSent(w.dispatch(10))
	w.result("https://a.test/1", nil)
	w.link(1, "https://a.test/private/1", "https://a.test/3", "https://b.test/")
	w.link(2, "https://a.test/deep")
	w.parsed("https://a.test/1")
	for range 2 {
		w.restart()
		w.pass(time.Hour)
		w.wantSent(w.dispatch(10))
		w.wantState("https://a.test/2", Queued, "")
		w.wantState("https://a.test/private/1", Queued, "")
		w.wantState("https://b.test/", Queued, "")
		if w.shard.busy() {
			t.Error("the partition is busy with a crawl that stands still")
		}
		st, err := (&partitionLoop{shard: w.shard, f: &Frontier{clock: newClock()}}).status("c")
		if err != nil || !st.Still || st.Unusable != "bad" {
			t.Errorf("its status is %+v, %v", st, err)
		}
	}
	w.gen++
	mended.Rev, w.current = w.gen, mended
	w.wantSent(w.dispatch(10), "https://a.test/2", "https://a.test/3")
	w.wantState("https://a.test/private/1", Excluded, frontierapi.ReasonExclude)
	w.wantState("https://b.test/", Excluded, frontierapi.ReasonScope)
	w.wantState("https://a.test/deep", Excluded, frontierapi.ReasonDepth)
}

// It alone stands still, in a frontier that is given such a spec by a person or by
// another build.
func TestSpecThatCannotBeUsedStopsNoOtherCrawl(t *testing.T) {
	t.Parallel()
	a := newTakeoverFixture(t)
	kv, err := a.bus.JS.KeyValue(t.Context(), messages.BucketCrawls)
	a.must(err)
	_, err = kv.Put(t.Context(), "x", []byte(`{"v":1,"scope":"galaxy"}`))
	a.must(err)
	store := a.store()
	owner := a.own(store, 1, time.Hour)
	host := hosts(1)[0]
	seeds := func(crawl string) {
		c := messages.Candidates{Crawl: crawl, Source: messages.SourceSeed, URLs: []messages.Candidate{{URL: "http://" + host + "/" + crawl}}}
		a.publish(messages.SubjectURLs(crawl, 0), "", c.Encode())
	}
	seeds("x")
	seeds("c")
	if e := a.take(1)[0]; e.Crawl != "c" {
		t.Fatalf("%s was sent", e.URL)
	} else {
		e.ends(messages.OK)
	}
	st, err := (&frontierapi.Client{Bus: a.bus}).Partition(t.Context(), "x", 0)
	a.must(err)
	if !st.Still || !strings.Contains(st.Unusable, "galaxy") || st.Counters.Queued != 1 {
		t.Errorf("the crawl stands so: %+v", st)
	}
	_, err = a.specs.Put(t.Context(), "x", new(crawlspec.Default()))
	a.must(err)
	if e := a.take(1)[0]; e.Crawl != "x" {
		t.Errorf("%s was sent", e.URL)
	}
	a.must(owner.die())
	if n := strings.Count(a.log.String(), "spec ignored"); n != 1 {
		t.Errorf("it was told %d times", n)
	}

	// One that is valid for this build, and cannot be compiled all the same.
	spec := crawlspec.Default()
	spec.Include = []string{"re:("}
	of := crawlspec.Revision{Spec: &spec, Rev: 7}
	f := a.frontier(store, time.Hour)
	for range 2 {
		r, err := f.compiledFor("y", of)
		if err != nil || !r.Still || r.Rev != 7 || r.State != crawlspec.Paused || slices.Equal(r.Include, spec.Include) {
			t.Errorf("it is compiled to %+v, %v", r, err)
		}
	}
	if n := strings.Count(a.log.String(), "spec ignored"); n != 2 {
		t.Errorf("they were told %d times", n)
	}
}

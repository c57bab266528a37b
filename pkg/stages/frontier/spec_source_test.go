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

// Crawls with equal specs share the compiled rules.
func TestRulesOfEqualSpecsAreCompiledOnce(t *testing.T) {
	t.Parallel()
	f, spec := new(Frontier), crawlspec.Default()
	a, err := f.compiledFor("a", crawlspec.Revision{Spec: &spec, Rev: 1})
	if err != nil {
		t.Fatal(err)
	}
	b, err := f.compiledFor("b", crawlspec.Revision{Spec: &spec, Rev: 2})
	if err != nil || a.RuleSet != b.RuleSet || a.Rev != 1 || b.Rev != 2 {
		t.Errorf("two rule sets of revisions %d and %d, %v", a.Rev, b.Rev, err)
	}
}

// A spec that cannot be used, from a user or another build, stalls only its own crawl.
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
		a.publish(messages.SubjectURLs(c.Source, crawl, 0), "", c.Encode())
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
	if !st.Stalled || !strings.Contains(st.Unusable, "galaxy") || st.Counters.Queued != 1 {
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

	// A spec that is valid for this build, but cannot be compiled.
	spec := crawlspec.Default()
	spec.Include = []string{"re:("}
	of := crawlspec.Revision{Spec: &spec, Rev: 7}
	f := a.frontier(store, time.Hour)
	for range 2 {
		r, err := f.compiledFor("y", of)
		if err != nil || !r.Stalled || r.Rev != 7 || r.State != crawlspec.Paused || slices.Equal(r.Include, spec.Include) {
			t.Errorf("it is compiled to %+v, %v", r, err)
		}
	}
	if n := strings.Count(a.log.String(), "spec ignored"); n != 2 {
		t.Errorf("they were told %d times", n)
	}
}

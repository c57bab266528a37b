package frontier

import (
	"testing"
	"time"

	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/frontier/frontierapi"
)

// A crawl that a frontier knows under a revision of its spec is stalled when the bucket no longer
// has one, and reports it, while a crawl that never had a spec continues. Nothing replaces the lost
// spec by the default. When a spec is stored again, the crawl continues with it.
func TestSpecThatIsLost_CrawlStandsStillUntilItIsStoredAgain(t *testing.T) {
	t.Parallel()
	a := newTakeoverFixture(t)
	s := a.store()
	first := a.own(s, 1, 0)
	host := hosts(1)[0]
	a.seed("http://"+host+"/1", "http://"+host+"/2")
	sent := a.take(1)[0]
	a.must(first.die())
	a.must(a.bus.JS.DeleteKeyValue(t.Context(), messages.BucketCrawls))
	a.must(Provision(t.Context(), a.config(time.Hour), a.bus))
	specs, stop, err := stages.FollowSpecs(t.Context(), a.bus)
	a.must(err)
	t.Cleanup(stop)
	a.specs = specs

	a.own(s, 2, 0)
	sent.ends(messages.OK)
	a.found(messages.Candidates{Source: messages.SourceSeed}, "http://"+host+"/3")
	client := frontierapi.Client{Bus: a.bus}
	var status frontierapi.CrawlStatus
	a.eventually("the crawl stands still", func() bool {
		status, err = client.Status(t.Context(), "c")
		return status.Stalled && status.Queued == 2
	})
	if status.Unusable == "" {
		t.Errorf("its status is %+v", status)
	}
	a.none()
	if _, err := client.SetState(t.Context(), "c", "", crawlspec.Paused); err == nil {
		t.Error("the default was changed in place of the spec")
	}
	spec := crawlspec.Default()
	spec.Delay, spec.Domains, spec.Exclude = 0, []string{"test"}, []string{"*/2"}
	_, err = a.specs.Put(t.Context(), "c", &spec)
	a.must(err)
	if got := a.take(1)[0]; got.URL != "http://"+host+"/3" {
		t.Errorf("then %s is sent", got.URL)
	}
	a.none()
}

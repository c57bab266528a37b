package fetcher

import (
	"testing"

	"seine/internal/testing/echoserver"
	"seine/pkg/messages"
)

// A request of a crawl without a usable spec is not sent, since its settings are unknown. Its visit
// may be sent later, once there is a spec.
func TestRequestOfACrawlThatStandsStillIsNotSent(t *testing.T) {
	t.Parallel()
	e := echoserver.New(t)
	s := withSpec(t, "")
	kv, err := s.bus.JS.KeyValue(t.Context(), messages.BucketCrawls)
	if err != nil {
		t.Fatal(err)
	}
	bad, err := kv.Put(t.Context(), "still", []byte(`{"v":1,"scope":"galaxy"}`))
	if err != nil {
		t.Fatal(err)
	}
	req := request(e.URL + "/")
	req.Crawl, req.Rev = "still", bad
	asked := func() int { return len(e.Seen()) }
	got := s.handle1(req, 1)
	if got.Class != messages.ClassCancelled || got.page != nil || !got.Class.Retryable() || asked() > 0 {
		t.Errorf("while it stands still: %+v, %d requests", got.Result, asked())
	}
	spec, err := s.specs.Get(t.Context(), testCrawl, 0)
	if err != nil {
		t.Fatal(err)
	}
	if req.Rev, err = s.specs.Put(t.Context(), "still", spec.Spec); err != nil {
		t.Fatal(err)
	}
	if got := s.handle1(req, 1); got.Class != messages.OK || asked() != 1 {
		t.Errorf("with a spec: %+v, %d requests", got.Result, asked())
	}
}

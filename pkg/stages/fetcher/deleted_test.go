package fetcher

import (
	"testing"

	"seine/internal/testing/echoserver"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// A request of a deleted crawl is not sent, and has no result: nobody waits for it.
func TestRequestOfADeletedCrawlIsNotSent(t *testing.T) {
	e := echoserver.New(t)
	s := withSpec(t, "max_depth: 3")
	d, err := s.specs.Deletions.Delete(t.Context(), testCrawl, messages.Deletion{})
	if err != nil {
		t.Fatal(err)
	}
	req := request(e.URL + "/")
	req.Rev = d.Rev - 1
	out, err := s.handle(t.Context(), &stages.Message{Data: req.Encode(), Deliveries: 1})
	if err != nil || len(out.Messages()) > 0 || len(e.Seen()) > 0 {
		t.Errorf("%+v, %v, %d requests", out, err, len(e.Seen()))
	}
}

// A new crawl does not inherit the cookies of a deleted one with its name.
func TestCookiesOfADeletedCrawlAreForgotten(t *testing.T) {
	s := newFetcherFixture(t)
	spec, err := s.specs.Get(t.Context(), testCrawl, 0)
	if err != nil {
		t.Fatal(err)
	}
	req := request("https://a.test/")
	before := s.newJob(req, spec).ask.CookieJar
	req.Visit.Round = messages.FirstRound(0, 1)
	if after := s.newJob(req, spec).ask.CookieJar; before == after {
		t.Errorf("both are those of %q", after)
	}
}

package state

import (
	"fmt"
	"strings"
	"testing"

	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
)

// reasonsNow returns the reasons that the partition reports.
func (w *partitionFixture) reasonsNow() (failures, exclusions map[string]int64, x frontierapi.Examples) {
	w.t.Helper()
	st, err := w.part.Questions.Status(frontierapi.Query{Crawl: "c", Examples: true})
	w.must(err)
	return st.Counters.FailedBy, st.Counters.Excluded, *st.Examples
}

// failing makes some URLs fail, in order.
func (w *partitionFixture) failing(host string, class messages.Class, many int) {
	w.t.Helper()
	for i := range many {
		url := fmt.Sprintf("https://%s/%d", host, i)
		w.seed(url)
		w.dispatch(1)
		w.result(url, func(r *messages.Result) { r.Class, r.Error = class, "as it was" })
	}
}

// Failures are counted by reason, with an example that is still valid, even after a restart.
func TestReasonsOfFailuresHaveAnExample(t *testing.T) {
	w := newPartitionFixture(t, func(s *crawlspec.Spec) { s.MaxAttempts = 1 })
	w.failing("a.test", messages.Gone, 3)
	w.failing("b.test", messages.TLSFailure, 2)
	w.link(1, "https://elsewhere.test/", "https://elsewhere.test/2")
	check := func(when, gone, tls string, n int64) {
		t.Helper()
		failed, excluded, x := w.reasonsNow()
		if len(failed) != 2 || failed["gone"] != n || failed["tls_failure"] != 2 || excluded["scope"] != 2 {
			t.Errorf("%s: failed by %v, excluded by %v", when, failed, excluded)
		}
		if x.Failures["gone"].URL != gone || x.Failures["tls_failure"] != (frontierapi.Example{URL: tls, Why: "tls_failure: as it was"}) || x.Exclusions["scope"].URL != "https://elsewhere.test/" {
			t.Errorf("%s: examples are %+v", when, x)
		}
	}
	check("at first", "https://a.test/0", "https://b.test/0", 3)
	w.restart()
	check("after a restart", "https://a.test/0", "https://b.test/0", 3)
	w.seed("https://a.test/0")
	check("when the example is tried again", "", "https://b.test/0", 2)
	w.dispatch(1)
	w.result("https://a.test/0", class(messages.Gone))
	check("when it failed again", "https://a.test/0", "https://b.test/0", 3)
	long := "https://a.test/" + strings.Repeat("x", maxExampleURL)
	w.seed(long)
	w.dispatch(1)
	w.result(long, class(messages.TooLarge))
	if failed, _, x := w.reasonsNow(); failed["too_large"] != 1 || x.Failures["too_large"].URL != "" {
		t.Errorf("a URL that is too long for an example: %v, %+v", failed, x)
	}
}

// A URL whose host was abandoned is reported as failed, though it was never sent.
func TestURLsOfAHostThatWasGivenUpAreToldAsFailed(t *testing.T) {
	w := newPartitionFixture(t, nil)
	w.seed("https://a.test/")
	rules, err := w.part.crawls.rules("c", 0)
	w.must(err)
	id := urlID{"c", messages.HashURL("https://a.test/")}
	r, err := w.part.urls.record(id)
	w.must(err)
	h, err := w.part.hosts.hostOf(r.URL)
	w.must(err)
	w.part.queues.drop(r, id, h)
	w.must(w.part.visits.giveUp(r, id, rules, w.at()))
	w.must(w.part.Commit(w.at()))
	page, err := w.part.Questions.FailedURLs(frontierapi.Query{Crawl: "c", Class: frontierapi.HostGivenUp})
	w.must(err)
	if failed, _, _ := w.reasonsNow(); len(page.URLs) != 1 || failed[frontierapi.HostGivenUp] != 1 {
		t.Errorf("told are %+v, counted %v", page.URLs, failed)
	}
	if err := frontierapi.CheckFailure(frontierapi.HostGivenUp); err != nil {
		t.Error(err)
	}
}

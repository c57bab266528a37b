package state

import (
	"maps"
	"testing"
	"time"

	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
)

// A page without a record because of a condition is done, whichever message comes last. It is
// counted by the type of the condition, with an example, and its explanation gives the reason,
// until it is visited again and has a record.
func TestPageThatIsLeftOutIsDoneAndCounted(t *testing.T) {
	const url, why = "https://a.test/", "language: page.when: the page is in de, not en"
	for _, parsedFirst := range []bool{true, false} {
		w := newPartitionFixture(t, func(s *crawlspec.Spec) {
			s.Recrawl = []crawlspec.RecrawlRule{{Match: "*", Every: crawlspec.Duration(time.Hour)}}
		})
		parsed := func(round uint64, leftOut string) {
			_, err := w.part.ApplyCandidates(&messages.Candidates{
				Crawl: "c", Source: messages.SourceLink, LeftOut: leftOut, Ends: messages.Visit{URL: messages.HashURL(url), Round: round},
			}, 1, w.at())
			w.must(err)
			w.must(w.part.Commit(w.at()))
		}
		counted := func() map[string]int64 { return w.part.crawls.get("c").LeftOut }
		w.seed(url)
		w.dispatch(1)
		if parsedFirst {
			parsed(1, why)
			w.restart()
			w.result(url, nil)
		} else {
			w.result(url, nil)
			parsed(1, why)
		}
		w.restart()
		if got := counted(); !maps.Equal(got, map[string]int64{"language": 1}) {
			t.Errorf("parsed first: %v: %v are left out", parsedFirst, got)
		}
		e, err := w.part.Questions.Explain("c", url)
		w.must(err)
		if e.LeftOut != why || e.Reason != "" || e.State != "done" {
			t.Errorf("parsed first: %v: %+v", parsedFirst, e)
		}
		want := frontierapi.Example{URL: url, Why: why}
		if got := w.part.crawls.get("c").Examples.LeftOut["language"]; got != want {
			t.Errorf("parsed first: %v: the example is %+v, want %+v", parsedFirst, got, want)
		}
		w.pass(2 * time.Hour)
		w.wantSent(w.dispatch(1), url)
		w.result(url, class(messages.NotModified))
		if got := counted(); !maps.Equal(got, map[string]int64{"language": 1}) {
			t.Errorf("parsed first: %v: %v are left out where a page is unchanged", parsedFirst, got)
		}
		w.pass(2 * time.Hour)
		w.wantSent(w.dispatch(1), url)
		w.result(url, nil)
		parsed(3, "")
		if got := counted(); len(got) > 0 {
			t.Errorf("parsed first: %v: %v are left out of a page that has a record now", parsedFirst, got)
		}
		if got := w.part.crawls.get("c").Examples.LeftOut; len(got) > 0 {
			t.Errorf("parsed first: %v: the example is still %+v", parsedFirst, got)
		}
	}
}

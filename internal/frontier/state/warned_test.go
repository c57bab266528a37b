package state

import (
	"testing"

	"seine/pkg/messages"
)

// A page that was read only in part is done, whichever message comes last, and its explanation says
// what could not be read.
func TestPageThatWasReadInPartIsDoneWithAWarning(t *testing.T) {
	const url, warning = "https://a.test/sitemap.xml", "1 of 2 entries without a URL that can be fetched"
	ends := &messages.Candidates{
		Crawl: "c", Source: messages.SourceLink, Warning: warning, Ends: messages.Visit{URL: messages.HashURL(url), Round: 1},
	}
	for _, parsedFirst := range []bool{true, false} {
		w := newPartitionFixture(t, nil)
		parsed := func() {
			_, err := w.part.ApplyCandidates(ends, 1, w.at())
			w.must(err)
			w.must(w.part.Commit(w.at()))
		}
		w.seed(url)
		w.dispatch(1)
		if parsedFirst {
			parsed()
			w.restart()
			w.result(url, nil)
		} else {
			w.result(url, nil)
			parsed()
		}
		w.restart()
		w.wantState(url, Done, warning)
		if n := w.part.crawls.get("c").Warnings; n != 1 {
			t.Errorf("parsed first: %v: %d warnings are counted, want 1", parsedFirst, n)
		}
		e, err := w.part.Questions.Explain("c", url)
		w.must(err)
		if e.Warning != warning || e.Reason != "" || e.State != "done" {
			t.Errorf("parsed first: %v: %+v", parsedFirst, e)
		}
	}
}

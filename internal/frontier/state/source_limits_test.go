package state

import (
	"testing"

	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
)

// A source determines how often the URLs of its hosts are tried, and how many redirects may lead to
// them.
func TestSourcesHaveTheirOwnAttemptsAndRedirects(t *testing.T) {
	w := newPartitionFixture(t, func(s *crawlspec.Spec) {
		s.Scope, s.MaxAttempts, s.MaxRedirects = crawlspec.ScopeAny, 2, 0
		s.Sources = []crawlspec.HostRule{{Hosts: []string{"once.test"}, MaxAttempts: new(1), MaxRedirects: new(3)}}
	})
	w.seed("https://once.test/1", "https://other.test/1")
	w.dispatch(10)
	w.answer("https://once.test/1", messages.Timeout)
	w.answer("https://other.test/1", messages.Timeout)
	w.wantState("https://once.test/1", Failed, "timeout")
	w.wantState("https://other.test/1", Waiting, "")
	for _, url := range []string{"https://once.test/2", "https://other.test/2"} {
		_, err := w.part.ApplyCandidates(&messages.Candidates{
			Crawl: "c", Source: messages.SourceRedirect, Redirects: 3, Referrer: "https://other.test/1", URLs: []messages.Candidate{{URL: url}},
		}, 1, w.at())
		w.must(err)
	}
	w.must(w.part.Commit(w.at()))
	w.wantState("https://once.test/2", Queued, "")
	w.wantState("https://other.test/2", Excluded, frontierapi.ReasonRedirects)
}

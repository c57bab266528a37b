package state

import (
	"slices"
	"testing"

	"seine/pkg/messages"
)

// The query returns the hosts of one crawl, or of all.
func TestSlowestHostsAreThoseOfACrawl(t *testing.T) {
	w := newPartitionFixture(t, nil)
	w.seed("https://a.test/")
	_, err := w.part.ApplyCandidates(&messages.Candidates{
		Crawl: "other", Source: messages.SourceSeed, URLs: []messages.Candidate{{URL: "https://b.test/"}},
	}, 1, w.at())
	w.must(err)
	w.must(w.part.Commit(w.at()))
	for crawl, want := range map[string][]string{"": {"a.test", "b.test"}, "c": {"a.test"}, "other": {"b.test"}, "none": nil} {
		hosts, err := w.part.Questions.Slowest(crawl, 5)
		w.must(err)
		var got []string
		for _, h := range hosts {
			got = append(got, h.Host)
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("hosts of crawl %q: %v, want %v", crawl, got, want)
		}
	}
}

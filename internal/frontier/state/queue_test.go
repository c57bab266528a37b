package state

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// URLs queued in a turn are sent in the same turn, in order with those queued before, however many:
// none twice, and none left while there is capacity.
func TestQueueIsInOrderWithinATurn(t *testing.T) {
	t.Parallel()
	for seed := uint64(0); seed < 40; seed += oneCaseIn {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 0))
			w := newPartitionFixture(t, func(s *crawlspec.Spec) {
				s.Politeness.PerHost, s.Politeness.Delay = 1024, 0
			})
			w.seed("https://a.test/")
			w.wantSent(w.dispatch(1), "https://a.test/")
			var queued []string // in the order in which they must be sent
			known := 0
			for range 16 {
				for range random.IntN(4) {
					depth := 1 + random.IntN(5)
					m := &messages.Candidates{Crawl: "c", Rev: w.current.Rev, Source: messages.SourceLink, Depth: depth, Referrer: "https://a.test/"}
					for range random.IntN(60) {
						known++
						url := fmt.Sprintf("https://a.test/%d/%06d", depth, known)
						m.URLs = append(m.URLs, messages.Candidate{URL: url})
						queued = append(queued, url)
					}
					bad, err := w.part.ApplyCandidates(m, 1, w.at())
					w.must(err)
					if len(bad) > 0 {
						t.Fatal(bad)
					}
				}
				slices.Sort(queued)
				for range 1 + random.IntN(2) {
					room := random.IntN(60)
					reqs, err := w.part.Dispatcher.Next(w.at(), FetchCapacity{room, room})
					w.must(err)
					var sent []string
					for _, r := range reqs {
						sent = append(sent, r.URL)
					}
					want := queued[:min(room, len(queued))]
					if !slices.Equal(sent, want) {
						t.Fatalf("with room for %d of %d, sent %d:\n%q\nwant\n%q", room, len(queued), len(sent), sent, want)
					}
					queued = queued[len(want):]
				}
				if random.IntN(3) > 0 {
					w.must(w.part.Commit(w.at()))
				}
				w.pass(time.Millisecond)
			}
		})
	}
}

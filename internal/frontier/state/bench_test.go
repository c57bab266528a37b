package state

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"testing"
	"time"

	"seine/internal/base/bootclock"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// BenchmarkCandidates applies pages of 50 links, four in five of them to the page's own host and
// half of them known, to one of 16 partitions of a crawl over 100,000 hosts. An operation is one
// candidate. bench/frontier measures the same through JetStream.
func BenchmarkCandidates(b *testing.B) {
	spec := crawlspec.Default()
	spec.Scope = crawlspec.ScopeAny
	benchCandidates(b, &spec, true)
}

// BenchmarkExcluded is BenchmarkCandidates with only new and excluded URLs: those of one host by
// the patterns, the others by the scope.
func BenchmarkExcluded(b *testing.B) {
	spec := crawlspec.Default()
	spec.Include = []string{"re:/never/[0-9]+$"}
	spec.Hosts = []string{"h1.test"}
	benchCandidates(b, &spec, false)
}

func benchCandidates(b *testing.B, spec *crawlspec.Spec, repeat bool) {
	r, err := compile(crawlspec.Revision{Spec: spec, Rev: 1})
	if err != nil {
		b.Fatal(err)
	}
	store, err := OpenStore(b.TempDir(), 32<<20, SyncOS, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	clock := NewClock(time.Now().UnixNano(), bootclock.Now, "")
	s, err := Open(b.Context(), store, Options{
		Epoch: 1, Clock: clock, Specs: fixedRules{r}, MaxHosts: 6250, Addresses: NewIPLimiter(clock.Now), Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	rng := rand.New(rand.NewPCG(1, 2))
	const hosts, links = 100_000 / 16, 50
	n := 0
	url := func(i int) string { return fmt.Sprintf("https://h%d.test/section/page-%d.html", i/4%hosts, i) }
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		m := &messages.Candidates{Crawl: "c", Source: messages.SourceLink, Depth: 3, Referrer: url(n)}
		for range links {
			i := n
			if n++; repeat && n > 100 && rng.IntN(2) == 0 {
				i, n = rng.IntN(n-1), n-1
			}
			m.URLs = append(m.URLs, messages.Candidate{URL: url(i)})
		}
		payload := m.Encode()
		b.StartTimer()
		now := time.Now().UnixNano()
		m, err := messages.DecodeCandidates(payload)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := s.ApplyCandidates(m, 1, now); err != nil {
			b.Fatal(err)
		}
		if rng.IntN(40) == 0 {
			if err := s.Commit(now); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*links), "ns/candidate")
}

// fixedRules is a SpecSource for one spec.
type fixedRules struct{ r *Rules }

func (f fixedRules) Rules(string, uint64) (*Rules, error) { return f.r, nil }
func (fixedRules) Generation() uint64                     { return 0 }
func (fixedRules) Changes(uint64) []crawlspec.Change      { return nil }
func (fixedRules) Known() (none crawlspec.Progress)       { return none }
func (fixedRules) Seeded(string) bool                     { return false }
func (fixedRules) Revision(string) (uint64, bool)         { return 0, false }
func (fixedRules) Deletion(string) *messages.Deletion     { return nil }

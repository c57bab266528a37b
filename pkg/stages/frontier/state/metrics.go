package state

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"seine/pkg/messages"
)

// Figures of the state. No label is a host or a URL.
var (
	candidatesTotal = newCandidateCounters()
	bloomFalseTotal = promauto.NewCounter(prometheus.CounterOpts{
		Name: "seine_frontier_bloom_false_positives_total", Help: "New URLs that the bloom filter took for known, at the cost of a read.",
	})
	sentTotal = promauto.NewCounter(prometheus.CounterOpts{
		Name: "seine_frontier_requests_total", Help: "Requests sent to the fetchers.",
	})
	resultsTotal = promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "seine_frontier_results_total", Help: "Results of in-flight requests, by class.",
	}, []string{"class"})
	visitsTotal = promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "seine_frontier_visits_total", Help: "Visits by what they found (new, changed, same, gone), and those that led nowhere (failed, the gone among them).",
	}, []string{"outcome"})
	recordsTotal = recordCounters{CounterVec: promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "seine_frontier_records_total", Help: "Records made of the pages whose visits have ended, by kind; of many kinds, the later ones are other.",
	}, []string{"kind"}), known: make(map[string]bool)}
	_ = promauto.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "seine_frontier_filter_bytes", Help: "Memory of the filters of known URLs, which grows with the crawl.",
	}, func() float64 { return float64(FilterBytes()) })
)

// recordCounters count by kind of record: a spec names those, so their number is bounded.
type recordCounters struct {
	*prometheus.CounterVec
	mu    sync.Mutex
	known map[string]bool
}

func (k *recordCounters) add(kind string, n int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.known[kind] && len(k.known) >= messages.MaxKinds-1 {
		kind = messages.KindOther
	}
	k.known[kind] = true
	k.WithLabelValues(kind).Add(float64(n))
}

type candidateCounters struct{ queued, known, excluded prometheus.Counter }

func newCandidateCounters() candidateCounters {
	v := promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "seine_frontier_candidates_total", Help: "Candidate URLs, by outcome (queued, known, excluded).",
	}, []string{"outcome"})
	return candidateCounters{v.WithLabelValues("queued"), v.WithLabelValues("known"), v.WithLabelValues("excluded")}
}

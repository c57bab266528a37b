package state

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"seine/pkg/messages"
)

// Metrics of the state. No label is a host or a URL.
var (
	candidatesTotal = newCandidateCounters()
	bloomFalseTotal = promauto.NewCounter(prometheus.CounterOpts{
		Name: "seine_frontier_bloom_false_positives_total", Help: "New URLs that needed a read, because the filter had them.",
	})
	sentTotal = promauto.NewCounter(prometheus.CounterOpts{
		Name: "seine_frontier_requests_total", Help: "Requests sent to fetchers.",
	})
	resultsTotal = promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "seine_frontier_results_total", Help: "Results of requests, by class.",
	}, []string{"class"})
	visitsTotal = promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "seine_frontier_visits_total", Help: "Visits, by outcome: new, changed, same, gone, failed (includes gone).",
	}, []string{"outcome"})
	recordsTotal = recordCounters{CounterVec: promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "seine_frontier_records_total", Help: "Records of ended visits, by kind: 64 kinds, then other.",
	}, []string{"kind"}), known: make(map[string]bool)}
	_ = promauto.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "seine_frontier_filter_bytes", Help: "Memory of the filters of known URLs, which grow with the crawl.",
	}, func() float64 { return float64(FilterBytes()) })
)

// recordCounters count records by kind. Specs name the kinds, so their number is limited.
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
		Name: "seine_frontier_candidates_total", Help: "URLs added or found, by outcome: queued, known, excluded.",
	}, []string{"outcome"})
	return candidateCounters{v.WithLabelValues("queued"), v.WithLabelValues("known"), v.WithLabelValues("excluded")}
}

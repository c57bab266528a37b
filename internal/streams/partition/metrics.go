package partition

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"seine/pkg/messages"
)

var (
	leasesHeld = promauto.NewGaugeVec(prometheus.GaugeOpts{
		Name: "seine_leases_held", Help: "Partitions that the process owns, by group: frontier, writer-NAME, alerts.",
	}, []string{"group"})
	leasesLost = promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "seine_leases_lost_total", Help: "Leases lost involuntarily.",
	}, []string{"group"})
	readerLag = promauto.NewGaugeVec(prometheus.GaugeOpts{
		Name: "seine_reader_lag_messages", Help: "Messages not yet received, by consumer: frontier-urls, frontier-results, writer-NAME.",
	}, []string{"consumer"})
	readerRewinds = promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "seine_reader_rewinds_total", Help: "Times that a partition was read again after a loss of the connection or of messages.",
	}, []string{"consumer"})
)

// share is one component of a gauge that several components add to.
type share struct {
	gauge prometheus.Gauge
	now   atomic.Int64
}

func (s *share) set(n int64) { s.gauge.Add(float64(n - s.now.Swap(n))) }

// lagOf returns the share of an ordered reader in the lag gauge, which is the sum over all
// partitions.
func lagOf(durable string) *share {
	return &share{gauge: readerLag.WithLabelValues(messages.ReaderOf(durable))}
}

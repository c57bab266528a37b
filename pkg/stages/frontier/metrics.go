package frontier

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// Metrics of a frontier process. No label is a host or a URL.
var (
	underWay = promauto.NewGauge(prometheus.GaugeOpts{
		Name: "seine_frontier_in_flight", Help: "Requests in flight.",
	})
	snapshotBytes = promauto.NewHistogram(prometheus.HistogramOpts{
		Name: "seine_frontier_snapshot_bytes", Help: "Size of snapshots.",
		Buckets: prometheus.ExponentialBuckets(1<<12, 8, 8),
	})
	turnSeconds = promauto.NewHistogram(prometheus.HistogramOpts{
		Name: "seine_frontier_turn_seconds", Help: "Time of a turn: apply, dispatch and commit.",
		Buckets: prometheus.ExponentialBuckets(0.00005, 4, 9),
	})
)

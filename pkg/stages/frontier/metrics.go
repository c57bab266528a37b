package frontier

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// Figures of a frontier process. No label is a host or a URL.
var (
	underWay = promauto.NewGauge(prometheus.GaugeOpts{
		Name: "seine_frontier_in_flight", Help: "In-flight requests of all partitions of the process.",
	})
	snapshotBytes = promauto.NewHistogram(prometheus.HistogramOpts{
		Name: "seine_frontier_snapshot_bytes", Help: "Size of the snapshots of partitions made by this process.",
		Buckets: prometheus.ExponentialBuckets(1<<12, 8, 8),
	})
	turnSeconds = promauto.NewHistogram(prometheus.HistogramOpts{
		Name: "seine_frontier_turn_seconds", Help: "Time of a turn: apply, dispatch and commit.",
		Buckets: prometheus.ExponentialBuckets(0.00005, 4, 9),
	})
)

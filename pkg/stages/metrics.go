package stages

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// metrics are the figures of one stage. Labels are few and bounded: never a
// host or a URL.
type metrics struct {
	handled   *prometheus.CounterVec // outcome
	seconds   prometheus.Observer
	published prometheus.Counter
	refused   *prometheus.CounterVec // stream, reason
	held      prometheus.Gauge
}

var (
	handledTotal = promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "seine_messages_handled_total", Help: "Messages taken from a stream, by how that ended.",
	}, []string{"stage", "outcome"})
	handleSeconds = promauto.NewHistogramVec(prometheus.HistogramOpts{
		Name: "seine_handle_seconds", Help: "Time from taking a message to its acknowledgement.",
		Buckets: prometheus.ExponentialBuckets(0.0005, 4, 10),
	}, []string{"stage"})
	publishedTotal = promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "seine_messages_published_total", Help: "Messages that JetStream acknowledged.",
	}, []string{"stage"})
	refusedTotal = promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "seine_publish_refused_total", Help: "Publishes that were refused and tried again, by stream and reason (full, unavailable).",
	}, []string{"stage", "stream", "reason"})
	heldMessages = promauto.NewGaugeVec(prometheus.GaugeOpts{
		Name: "seine_messages_held", Help: "Messages taken and not yet acknowledged.",
	}, []string{"stage"})
)

func metricsFor(stage string) *metrics {
	l := prometheus.Labels{"stage": stage}
	return &metrics{
		handled:   handledTotal.MustCurryWith(l),
		seconds:   handleSeconds.With(l),
		published: publishedTotal.With(l),
		refused:   refusedTotal.MustCurryWith(l),
		held:      heldMessages.With(l),
	}
}

package stages

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"seine/pkg/messages"
)

// metrics are the metrics of one stage. Labels are few and bounded: never a host or a URL.
type metrics struct {
	handled       *prometheus.CounterVec // outcome
	seconds       prometheus.Observer
	published     prometheus.Counter
	took          prometheus.Observer
	refused       *prometheus.CounterVec // stream, reason
	waited        *prometheus.CounterVec // stream, reason
	waiting       prometheus.Gauge
	dead          prometheus.Counter
	inFlight      prometheus.Gauge
	ackWaitResets prometheus.Counter
}

var (
	handledTotal = promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "seine_messages_handled_total", Help: "Handled messages, by outcome: done, retried, dead, cut.",
	}, []string{"stage", "outcome"})
	handleSeconds = promauto.NewHistogramVec(prometheus.HistogramOpts{
		Name: "seine_handle_seconds", Help: "Time from receipt of a message to its acknowledgement.",
		Buckets: prometheus.ExponentialBuckets(0.0005, 4, 10),
	}, []string{"stage"})
	publishedTotal = promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "seine_messages_published_total", Help: "Messages that JetStream acknowledged.",
	}, []string{"stage"})
	publishSeconds = promauto.NewHistogramVec(prometheus.HistogramOpts{
		Name: "seine_publish_seconds", Help: "Time until JetStream has acknowledged all outputs of a message.",
		Buckets: prometheus.ExponentialBuckets(0.0001, 4, 10),
	}, []string{"stage"})
	refusedTotal = promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "seine_publish_refused_total", Help: "Refused publishes (back-pressure), by stream and reason: full, unavailable.",
	}, []string{"stage", "stream", "reason"})
	waitSecondsTotal = promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "seine_publish_wait_seconds_total", Help: "Time that publishers were blocked, by stream and reason.",
	}, []string{"stage", "stream", "reason"})
	waitingPublishers = promauto.NewGaugeVec(prometheus.GaugeOpts{
		Name: "seine_publishers_waiting", Help: "Publishers that are blocked now.",
	}, []string{"stage"})
	deadTotal = promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "seine_dead_letters_total", Help: "Dead letters stored in DEAD.",
	}, []string{"stage"})
	messagesInFlight = promauto.NewGaugeVec(prometheus.GaugeOpts{
		Name: "seine_messages_in_flight", Help: "Messages received and not acknowledged.",
	}, []string{"stage"})
	ackWaitResetsTotal = promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "seine_ack_wait_resets_total", Help: "Messages that no process held, after a change of a server's clock; the server redelivers them.",
	}, []string{"stage"})

	reconnectsTotal = promauto.NewCounter(prometheus.CounterOpts{
		Name: "seine_nats_reconnects_total", Help: "Connections to NATS that were regained.",
	})
	disconnected = promauto.NewGauge(prometheus.GaugeOpts{
		Name: "seine_nats_connections_lost", Help: "Connections to NATS that are lost now.",
	})
)

// outcomes are the values of the label outcome of handledTotal.
var outcomes = []string{"done", "retried", "dead", "cut"}

// publishes are the streams that each stage publishes to, by the second token of their subjects.
var publishes = map[string][]string{
	messages.StageFrontier: {"seeded", "fetch", "render", "dead"},
	messages.StageFetcher:  {"pages", "urls", "redirects", "results", "dead"},
	messages.StageRenderer: {"pages", "urls", "redirects", "results", "dead"},
	messages.StageParser:   {"records", "urls", "dead"}, messages.StageWriter: {"dead"},
}

// metricsFor returns the metrics of a stage. Counters of refused publishes are created at the
// start, since the rate of a series that begins with its first event misses that event.
func metricsFor(stage string) *metrics {
	l := prometheus.Labels{"stage": stage}
	for _, stream := range publishes[stage] {
		for _, reason := range []string{"full", "unavailable"} {
			refusedTotal.WithLabelValues(stage, stream, reason)
			waitSecondsTotal.WithLabelValues(stage, stream, reason)
		}
	}
	return &metrics{
		handled:       handledTotal.MustCurryWith(l),
		seconds:       handleSeconds.With(l),
		published:     publishedTotal.With(l),
		took:          publishSeconds.With(l),
		refused:       refusedTotal.MustCurryWith(l),
		waited:        waitSecondsTotal.MustCurryWith(l),
		waiting:       waitingPublishers.With(l),
		dead:          deadTotal.With(l),
		inFlight:      messagesInFlight.With(l),
		ackWaitResets: ackWaitResetsTotal.With(l),
	}
}

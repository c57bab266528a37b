package fetcher

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"seine/pkg/messages"
)

// The figures of the stage. Labels are few and bounded: never a host or a URL.
var (
	requestsTotal = promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "seine_fetch_requests_total", Help: "Requests of FETCH done, by class of their result.",
	}, []string{"class"})
	requestSeconds = promauto.NewHistogram(prometheus.HistogramOpts{
		Name: "seine_fetch_seconds", Help: "Time of an HTTP exchange, from dialling to the last byte of the body.",
		Buckets: prometheus.ExponentialBuckets(0.001, 3, 11),
	})
	inFlight = promauto.NewGauge(prometheus.GaugeOpts{
		Name: "seine_fetch_in_flight", Help: "HTTP exchanges under way.",
	})
	wireBytes = promauto.NewCounter(prometheus.CounterOpts{
		Name: "seine_fetch_wire_bytes_total", Help: "Bytes of bodies as they came.",
	})
	bodyBytes = promauto.NewCounter(prometheus.CounterOpts{
		Name: "seine_fetch_body_bytes_total", Help: "Bytes of bodies kept, decoded.",
	})
	robotsTotal = promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "seine_fetch_robots_total", Help: "Look-ups of robots.txt, by where it was found (memory, bucket, host, unreachable, stale).",
	}, []string{"source"})
	dnsTotal = promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "seine_fetch_dns_total", Help: "Look-ups of names in the address cache, by outcome (hit, miss).",
	}, []string{"outcome"})
	bodyMemory = promauto.NewGauge(prometheus.GaugeOpts{
		Name: "seine_fetch_body_memory_bytes", Help: "Memory reserved for bodies being read.",
	})
	waitSeconds = promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "seine_fetch_wait_seconds_total", Help: "Time spent waiting before or within requests, by reason (host, rate, bandwidth, memory, redelivery, object_store, proxy, robots).",
	}, []string{"reason"})

	proxyFailures = promauto.NewCounter(prometheus.CounterOpts{
		Name: "seine_fetch_proxy_failures_total", Help: "Exchanges that failed at a proxy.",
	})

	robotsMemory, robotsBucket     = robotsTotal.WithLabelValues("memory"), robotsTotal.WithLabelValues("bucket")
	robotsHost, robotsUnreachable  = robotsTotal.WithLabelValues("host"), robotsTotal.WithLabelValues("unreachable")
	robotsStale                    = robotsTotal.WithLabelValues("stale")
	dnsHit, dnsMiss                = dnsTotal.WithLabelValues("hit"), dnsTotal.WithLabelValues("miss")
	waitHost, waitRate             = waitSeconds.WithLabelValues("host"), waitSeconds.WithLabelValues("rate")
	waitBandwidth, waitMemory      = waitSeconds.WithLabelValues("bandwidth"), waitSeconds.WithLabelValues("memory")
	waitRedelivery, waitObjectFull = waitSeconds.WithLabelValues("redelivery"), waitSeconds.WithLabelValues("object_store")
	waitProxy, waitRobots          = waitSeconds.WithLabelValues("proxy"), waitSeconds.WithLabelValues("robots")
)

// The series of all classes are there from the start: what is divided by one that
// is not would be nothing, not 0.
func init() {
	for _, c := range messages.Classes() {
		requestsTotal.WithLabelValues(string(c))
	}
}

// timed adds to c how long do took.
func timed(c prometheus.Counter, do func() error) error {
	began := time.Now()
	err := do()
	c.Add(time.Since(began).Seconds())
	return err
}

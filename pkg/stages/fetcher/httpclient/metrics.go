package httpclient

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// Metrics of the client. Labels are few and bounded: never a host or a URL.
var (
	requestSeconds = promauto.NewHistogram(prometheus.HistogramOpts{
		Name: "seine_fetch_seconds", Help: "Time of an HTTP exchange.",
		Buckets: prometheus.ExponentialBuckets(0.001, 3, 11),
	})
	inFlight = promauto.NewGauge(prometheus.GaugeOpts{
		Name: "seine_fetch_in_flight", Help: "HTTP exchanges in flight.",
	})
	wireBytes = promauto.NewCounter(prometheus.CounterOpts{
		Name: "seine_fetch_wire_bytes_total", Help: "Bytes of bodies, as received.",
	})
	dnsTotal = promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "seine_fetch_dns_total", Help: "Look-ups in the address cache, by outcome: hit, miss.",
	}, []string{"outcome"})
	bodyMemory = promauto.NewGauge(prometheus.GaugeOpts{
		Name: "seine_fetch_body_memory_bytes", Help: "Memory reserved for bodies.",
	})
	proxyFailures = promauto.NewCounter(prometheus.CounterOpts{
		Name: "seine_fetch_proxy_failures_total", Help: "Failures at a proxy, without refusals by sites.",
	})

	dnsHit, dnsMiss         = dnsTotal.WithLabelValues("hit"), dnsTotal.WithLabelValues("miss")
	waitHost, waitProxy     = WaitSeconds.WithLabelValues("host"), WaitSeconds.WithLabelValues("proxy")
	waitRate, waitBandwidth = WaitSeconds.WithLabelValues("rate"), WaitSeconds.WithLabelValues("bandwidth")
	waitMemory              = WaitSeconds.WithLabelValues("memory")
)

// WaitSeconds counts the waiting time of requests by reason. It is exported because callers of
// Client.Do add further reasons to the same metric.
var WaitSeconds = promauto.NewCounterVec(prometheus.CounterOpts{
	Name: "seine_fetch_wait_seconds_total", Help: "Waiting time of requests, by reason: host, rate, bandwidth, memory, redelivery, object_store, proxy (all rest), robots (another fetcher requests it).",
}, []string{"reason"})

// Timed calls do, and adds its duration to c.
func Timed(c prometheus.Counter, do func() error) error {
	began := time.Now()
	err := do()
	c.Add(time.Since(began).Seconds())
	return err
}

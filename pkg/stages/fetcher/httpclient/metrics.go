package httpclient

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// The figures of the client. Labels are few and bounded: never a host or a URL.
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

// WaitSeconds is what requests wait for. A caller of Client.Do has further reasons,
// and the metric is one.
var WaitSeconds = promauto.NewCounterVec(prometheus.CounterOpts{
	Name: "seine_fetch_wait_seconds_total", Help: "Waiting time of requests, by reason: host, rate, bandwidth, memory, redelivery, object_store, proxy (all rest), robots (another fetcher requests it).",
}, []string{"reason"})

// Timed does what waits, and adds to c how long it took.
func Timed(c prometheus.Counter, do func() error) error {
	began := time.Now()
	err := do()
	c.Add(time.Since(began).Seconds())
	return err
}

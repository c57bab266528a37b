package fetcher

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"seine/pkg/messages"
	"seine/pkg/stages/fetcher/httpclient"
)

// Metrics of the stage; httpclient has more. Labels are few and bounded: never a host or a URL.
var (
	requestsTotal = promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "seine_fetch_requests_total", Help: "Results, by class.",
	}, []string{"class"})
	bodyBytes = promauto.NewCounter(prometheus.CounterOpts{
		Name: "seine_fetch_body_bytes_total", Help: "Bytes of bodies kept, decoded.",
	})
	robotsTotal = promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "seine_fetch_robots_total", Help: "Look-ups of robots.txt, by source: memory, bucket, host, unreachable, stale (an old copy).",
	}, []string{"source"})

	robotsMemory, robotsBucket     = robotsTotal.WithLabelValues("memory"), robotsTotal.WithLabelValues("bucket")
	robotsHost, robotsUnreachable  = robotsTotal.WithLabelValues("host"), robotsTotal.WithLabelValues("unreachable")
	robotsStale                    = robotsTotal.WithLabelValues("stale")
	waitHost, waitRobots           = httpclient.WaitSeconds.WithLabelValues("host"), httpclient.WaitSeconds.WithLabelValues("robots")
	waitRedelivery, waitObjectFull = httpclient.WaitSeconds.WithLabelValues("redelivery"), httpclient.WaitSeconds.WithLabelValues("object_store")
)

// The series of all classes exist from the start: a division by a missing series yields nothing,
// not 0.
func init() {
	for _, c := range messages.Classes() {
		requestsTotal.WithLabelValues(string(c))
	}
}

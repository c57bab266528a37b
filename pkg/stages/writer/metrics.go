package writer

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

var (
	recordsTotal = promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "seine_writer_records_total", Help: "Committed records.",
	}, []string{"writer"})
	bytesTotal = promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "seine_writer_bytes_total", Help: "Bytes of committed files, by kind: raw, file.",
	}, []string{"writer", "kind"})
	filesTotal = promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "seine_writer_files_total", Help: "Committed files.",
	}, []string{"writer"})
	repeatsTotal = promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "seine_writer_repeats_total", Help: "Dropped repeats.",
	}, []string{"writer"})
	badTotal = promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "seine_writer_bad_total", Help: "Invalid messages, sent to DEAD.",
	}, []string{"writer"})
	failuresTotal = promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "seine_writer_failures_total", Help: "Partitions restarted from their last commit.",
	}, []string{"writer"})
	lagMessages = promauto.NewGaugeVec(prometheus.GaugeOpts{
		Name: "seine_writer_lag_messages", Help: "Uncommitted messages of this process.",
	}, []string{"writer"})
	commitSeconds = promauto.NewHistogramVec(prometheus.HistogramOpts{
		Name: "seine_writer_commit_seconds", Help: "Time of a commit.",
		Buckets: prometheus.ExponentialBuckets(0.001, 3, 10),
	}, []string{"writer"})
)

// begin creates the metrics of a writer at the start: the rate of a series that begins with its
// first event misses that event.
func begin(name string) {
	for _, c := range []*prometheus.CounterVec{recordsTotal, filesTotal, repeatsTotal, badTotal, failuresTotal} {
		c.WithLabelValues(name)
	}
	bytesTotal.WithLabelValues(name, "raw")
	bytesTotal.WithLabelValues(name, "file")
	lagMessages.WithLabelValues(name)
	commitSeconds.WithLabelValues(name)
}

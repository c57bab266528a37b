package writer

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

var (
	recordsTotal = promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "seine_writer_records_total", Help: "Records in committed files.",
	}, []string{"writer"})
	bytesTotal = promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "seine_writer_bytes_total", Help: "Bytes of committed files, by whether before or after compression.",
	}, []string{"writer", "kind"})
	filesTotal = promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "seine_writer_files_total", Help: "Committed files.",
	}, []string{"writer"})
	repeatsTotal = promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "seine_writer_repeats_total", Help: "Records that came again and were dropped.",
	}, []string{"writer"})
	badTotal = promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "seine_writer_bad_total", Help: "Messages on RECORDS that were no records and went to DEAD.",
	}, []string{"writer"})
	failuresTotal = promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "seine_writer_failures_total", Help: "Times that a partition had to start again from its last commit.",
	}, []string{"writer"})
	lagMessages = promauto.NewGaugeVec(prometheus.GaugeOpts{
		Name: "seine_writer_lag_messages", Help: "Messages that are not committed yet, of the partitions of this process.",
	}, []string{"writer"})
	commitSeconds = promauto.NewHistogramVec(prometheus.HistogramOpts{
		Name: "seine_writer_commit_seconds", Help: "Time to finish, sync and commit the open files of a partition.",
		Buckets: prometheus.ExponentialBuckets(0.001, 3, 10),
	}, []string{"writer"})
)

// begin has the figures of a writer there from the start: the rate of one that
// begins with its first event misses that.
func begin(name string) {
	for _, c := range []*prometheus.CounterVec{recordsTotal, filesTotal, repeatsTotal, badTotal, failuresTotal} {
		c.WithLabelValues(name)
	}
	bytesTotal.WithLabelValues(name, "raw")
	bytesTotal.WithLabelValues(name, "file")
	lagMessages.WithLabelValues(name)
	commitSeconds.WithLabelValues(name)
}

package procstats

import "github.com/prometheus/client_golang/prometheus"

var (
	readyDesc = prometheus.NewDesc("seine_ready", "1 if all checks of /readyz pass, else 0.", nil, nil)
	limitDesc = prometheus.NewDesc("seine_memory_limit_bytes", "Memory that the process may have: that of its container, or of the machine.", nil, nil)
	freeDesc  = prometheus.NewDesc("seine_disk_free_bytes", "Free space where the process keeps something, by what (state, out, data, archive).", []string{"place"}, nil)
	sizeDesc  = prometheus.NewDesc("seine_disk_size_bytes", "Size of the disk where the process keeps something, by what (state, out, data, archive).", []string{"place"}, nil)
)

// Describe implements prometheus.Collector.
func (s *Reporter) Describe(ch chan<- *prometheus.Desc) {
	ch <- readyDesc
	ch <- limitDesc
	ch <- freeDesc
	ch <- sizeDesc
}

// Collect implements prometheus.Collector.
func (s *Reporter) Collect(ch chan<- prometheus.Metric) {
	now := s.Now()
	ready := 1.0
	if now.Unready != "" {
		ready = 0
	}
	ch <- prometheus.MustNewConstMetric(readyDesc, prometheus.GaugeValue, ready)
	if now.Limit > 0 {
		ch <- prometheus.MustNewConstMetric(limitDesc, prometheus.GaugeValue, float64(now.Limit))
	}
	for _, d := range now.Disks {
		ch <- prometheus.MustNewConstMetric(freeDesc, prometheus.GaugeValue, float64(d.Free), d.Name)
		ch <- prometheus.MustNewConstMetric(sizeDesc, prometheus.GaugeValue, float64(d.Size), d.Name)
	}
}

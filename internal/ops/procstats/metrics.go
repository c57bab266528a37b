package procstats

import "github.com/prometheus/client_golang/prometheus"

var (
	readyDesc = prometheus.NewDesc("seine_ready", "1 if all checks of /readyz pass, else 0.", nil, nil)
	limitDesc = prometheus.NewDesc("seine_memory_limit_bytes", "Memory limit of the container or machine.", nil, nil)
	freeDesc  = prometheus.NewDesc("seine_disk_free_bytes", "Free disk space at a place: state, out; of seine crawl: data, out, archive, requests.", []string{"place"}, nil)
	sizeDesc  = prometheus.NewDesc("seine_disk_size_bytes", "Size of the disk at a place.", []string{"place"}, nil)
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

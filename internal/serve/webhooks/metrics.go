package webhooks

import "github.com/prometheus/client_golang/prometheus"

var (
	deliveriesDesc = prometheus.NewDesc("seine_webhook_deliveries_total", "Posts to webhooks of seine serve, by outcome: taken, failed.", []string{"webhook", "outcome"}, nil)
	waitingDesc    = prometheus.NewDesc("seine_webhook_waiting_posts", "1 while a post waits.", []string{"webhook"}, nil)
	oldestDesc     = prometheus.NewDesc("seine_webhook_oldest_post_timestamp_seconds", "Time since when a post waits.", []string{"webhook"}, nil)
	missedDesc     = prometheus.NewDesc("seine_webhook_missed_messages_total", "Records that left RECORDS before their delivery.", []string{"webhook"}, nil)
)

// Describe implements prometheus.Collector.
func (s *Service) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{deliveriesDesc, waitingDesc, oldestDesc, missedDesc} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (s *Service) Collect(ch chan<- prometheus.Metric) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, one := range s.senders {
		st := one.state()
		waiting := 0.0
		if !st.Since.IsZero() {
			waiting = 1
			ch <- prometheus.MustNewConstMetric(oldestDesc, prometheus.GaugeValue, float64(st.Since.UnixMilli())/1000, name)
		}
		ch <- prometheus.MustNewConstMetric(waitingDesc, prometheus.GaugeValue, waiting, name)
		ch <- prometheus.MustNewConstMetric(deliveriesDesc, prometheus.CounterValue, float64(st.Delivered), name, "taken")
		ch <- prometheus.MustNewConstMetric(deliveriesDesc, prometheus.CounterValue, float64(st.Failed), name, "failed")
		ch <- prometheus.MustNewConstMetric(missedDesc, prometheus.CounterValue, float64(st.Missed), name)
	}
}

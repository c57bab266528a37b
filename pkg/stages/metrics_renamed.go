package stages

import (
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// oldMetricNames are the names of metrics in the release before, by the names of now. They go with the next release.
var oldMetricNames = map[string]string{
	"seine_messages_in_flight":    "seine_messages_held",
	"seine_ack_wait_resets_total": "seine_reclaims_total",
	"seine_reader_lag_messages":   "seine_feed_lag_messages",
	"seine_reader_rewinds_total":  "seine_feed_rewinds_total",
}

// withOldNames gathers what g does, and the renamed metrics under their old names too.
func withOldNames(g prometheus.Gatherer) prometheus.Gatherer {
	return prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) {
		families, err := g.Gather()
		for _, f := range families {
			if old, renamed := oldMetricNames[f.GetName()]; renamed {
				help := "Old name of " + f.GetName() + "."
				families = append(families, &dto.MetricFamily{Name: &old, Help: &help, Type: f.Type, Metric: f.GetMetric()})
			}
		}
		return families, err //nolint:wrapcheck // it is that of g
	})
}

package parser

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"seine/internal/page/extract"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// Metrics of the stage, for parsed pages; a page that is parsed again counts again. No label is a
// host, a URL, or a kind named in a spec.
var (
	readSeconds = promauto.NewHistogram(prometheus.HistogramOpts{
		Name: "seine_parser_read_seconds", Help: "Time to parse a page, without publishing.",
		Buckets: prometheus.ExponentialBuckets(0.0001, 4, 10),
	})
	readBytes = promauto.NewCounter(prometheus.CounterOpts{
		Name: "seine_parser_body_bytes_total", Help: "Bytes of bodies, decoded.",
	})
	recordsTotal = promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "seine_parser_records_total", Help: "Records, by source: page, rule.",
	}, []string{"source"})
	recordFailures = promauto.NewCounter(prometheus.CounterOpts{
		Name: "seine_parser_record_failures_total", Help: "Records that failed and went to DEAD.",
	})
	linksTotal = promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "seine_parser_links_total", Help: "Links, by outcome: sent, known.",
	}, []string{"outcome"})
	duplicatesTotal = promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "seine_parser_duplicates_total", Help: "Duplicate pages, by action: mark, drop (includes unchanged pages).",
	}, []string{"action"})

	leftOutTotal = promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "seine_parser_left_out_total", Help: "Pages without a record, by reason: language, text_language, duplicate, condition.",
	}, []string{"reason"})

	_ = promauto.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "seine_parser_abandoned_rules", Help: "Functions of rules that are still busy after their minute; at 4, further pages wait.",
	}, func() float64 { return float64(extract.Abandoned()) })

	ofPages, ofRules      = recordsTotal.WithLabelValues("page"), recordsTotal.WithLabelValues("rule")
	linksSent, linksKnown = linksTotal.WithLabelValues("sent"), linksTotal.WithLabelValues("known")
	marked, dropped       = duplicatesTotal.WithLabelValues(string(crawlspec.DuplicateMark)), duplicatesTotal.WithLabelValues(string(crawlspec.DuplicateDrop))
)

// A count that has not begun is 0, not missing.
func init() {
	for _, reason := range messages.LeftOutReasons {
		leftOutTotal.WithLabelValues(reason)
	}
}

// count adds the output of a page to the metrics.
func (r *parsedPage) count() {
	if r.hasPageRecord() {
		ofPages.Inc()
	}
	ofRules.Add(float64(len(r.records)))
	if r.leftOut != "" {
		leftOutTotal.WithLabelValues(messages.LeftOutReason(r.leftOut)).Inc()
	}
	recordFailures.Add(float64(len(r.problems)))
}

package parser

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"seine/internal/page/extract"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// The figures of the stage, of pages that were read; one that is read again counts
// again. No label is a host, a URL, or a kind that a spec names.
var (
	readSeconds = promauto.NewHistogram(prometheus.HistogramOpts{
		Name: "seine_parser_read_seconds", Help: "Time to read a page and make its records, without publishing them.",
		Buckets: prometheus.ExponentialBuckets(0.0001, 4, 10),
	})
	readBytes = promauto.NewCounter(prometheus.CounterOpts{
		Name: "seine_parser_body_bytes_total", Help: "Bytes of bodies read, decoded.",
	})
	recordsTotal = promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "seine_parser_records_total", Help: "Records made, by what made them (page, rule).",
	}, []string{"source"})
	recordFailures = promauto.NewCounter(prometheus.CounterOpts{
		Name: "seine_parser_record_failures_total", Help: "Records that a rule could not make, which went to DEAD.",
	})
	linksTotal = promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "seine_parser_links_total", Help: "Links of pages, by whether they were sent to the frontier (sent) or recently seen (known).",
	}, []string{"outcome"})
	duplicatesTotal = promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "seine_parser_duplicates_total", Help: "Pages that repeat another, by what was done with them (mark, drop).",
	}, []string{"action"})

	leftOutTotal = promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "seine_parser_left_out_total", Help: "Pages without a record because of a condition of the spec, by its sort (language, text_language, condition).",
	}, []string{"reason"})

	_ = promauto.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "seine_parser_abandoned_rules", Help: "Functions of rules that are still busy though the time of their page is over.",
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

// count adds what was made of a page to the figures.
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

package watchdog

import (
	"cmp"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"seine/internal/ops/alerts"
	"seine/internal/ops/overview"
)

// maxCrawls bounds the crawls with a label of their own; the others are summed as otherCrawls,
// which is not a valid name of a crawl. Crawls with the most pending URLs get labels first.
const (
	maxCrawls   = 50
	otherCrawls = "_other"
)

var notified = promauto.NewCounterVec(prometheus.CounterOpts{
	Name: "seine_alert_notifications_total", Help: "Posts to webhooks of specs, by outcome: delivered, failed, dropped.",
}, []string{"outcome"})

// figures is the cluster as the watchdog last observed it; nil in processes that are not the
// leader.
var figures atomic.Pointer[snapshot]

// snapshot is the data that the leader exposes.
type snapshot struct {
	raised  map[alerts.Kind]int
	crawls  []overview.Crawl
	stages  []overview.Stage
	streams []overview.Stream
}

func (w *Watchdog) exportedMetrics(seen *clusterSnapshot) *snapshot {
	s := &snapshot{raised: make(map[alerts.Kind]int), crawls: bounded(seen.Crawls), stages: seen.Stages, streams: seen.Streams}
	for _, k := range w.watched {
		for _, a := range k.state.Raised() {
			s.raised[a.Kind]++
		}
	}
	return s
}

// bounded sums the crawls beyond maxCrawls.
func bounded(all []overview.Crawl) []overview.Crawl {
	known := slices.DeleteFunc(slices.Clone(all), func(c overview.Crawl) bool { return c.Problem != "" })
	if len(known) <= maxCrawls {
		return known
	}
	slices.SortFunc(known, func(a, b overview.Crawl) int {
		return cmp.Or(cmp.Compare(b.Pending(), a.Pending()), strings.Compare(a.Name, b.Name))
	})
	other := overview.Crawl{Name: otherCrawls}
	for i := range known[maxCrawls:] {
		other.Add(&known[maxCrawls+i].Counters)
	}
	return append(known[:maxCrawls:maxCrawls], other)
}

func init() {
	prometheus.MustRegister(collector{})
	for _, outcome := range []string{"delivered", "failed", "dropped"} {
		notified.WithLabelValues(outcome)
	}
}

// collector exposes the figures of the cluster.
type collector struct{}

// Metrics of the cluster. One process at a time exposes them.
var (
	alertsDesc = prometheus.NewDesc("seine_alerts", "Raised alerts, over all crawls.", []string{"alert"}, nil)
	urlsDesc   = prometheus.NewDesc("seine_crawl_urls", "URLs of a crawl, by state: queued, in_flight, waiting, parsing, done, failed, excluded.", []string{"crawl", "state"}, nil)
	pagesDesc  = prometheus.NewDesc("seine_crawl_pages_total", "Pages since the crawl began.", []string{"crawl"}, nil)
	asksDesc   = prometheus.NewDesc("seine_crawl_requests_total", "Ended requests since the crawl began, by class.", []string{"crawl", "class"}, nil)
	waitDesc   = prometheus.NewDesc("seine_stage_waiting_messages", "Messages that wait for a stage.", []string{"stage", "writer"}, nil)
	ageDesc    = prometheus.NewDesc("seine_stage_oldest_message_timestamp_seconds", "Time of the oldest message that waits for a stage; absent if none waits.", []string{"stage", "writer"}, nil)
	liveDesc   = prometheus.NewDesc("seine_stage_instances", "Processes of a stage.", []string{"stage", "writer"}, nil)
	streamDesc = prometheus.NewDesc("seine_stream_bytes", "Size of a stream.", []string{"stream"}, nil)
	limitDesc  = prometheus.NewDesc("seine_stream_limit_bytes", "Limit of a stream; absent without one.", []string{"stream"}, nil)
	countDesc  = prometheus.NewDesc("seine_stream_messages", "Messages in a stream.", []string{"stream"}, nil)
)

// Describe implements prometheus.Collector.
func (collector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		alertsDesc, urlsDesc, pagesDesc, asksDesc, waitDesc, ageDesc, liveDesc, streamDesc, limitDesc, countDesc,
	} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (collector) Collect(ch chan<- prometheus.Metric) {
	s := figures.Load()
	if s == nil {
		return
	}
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	for _, k := range alerts.Kinds {
		gauge(alertsDesc, float64(s.raised[k]), string(k))
	}
	for i := range s.stages {
		st := &s.stages[i]
		stage, writer, _ := strings.Cut(st.Name, " ")
		gauge(waitDesc, float64(st.Lag), stage, writer)
		gauge(liveDesc, float64(st.Instances), stage, writer)
		if !st.Oldest.IsZero() {
			gauge(ageDesc, float64(st.Oldest.UnixMilli())/1000, stage, writer)
		}
	}
	for _, st := range s.streams {
		gauge(streamDesc, float64(st.Bytes), st.Name)
		gauge(countDesc, float64(st.Messages), st.Name)
		if st.Limit > 0 {
			gauge(limitDesc, float64(st.Limit), st.Name)
		}
	}
	for i := range s.crawls {
		collectCrawl(ch, &s.crawls[i])
	}
}

func collectCrawl(ch chan<- prometheus.Metric, c *overview.Crawl) {
	for state, n := range map[string]int64{
		"queued": c.Queued, "in_flight": c.InFlight, "waiting": c.Waiting, "parsing": c.Parsing,
		"done": c.Done, "failed": c.Failed, "excluded": c.ExcludedURLs(),
	} {
		ch <- prometheus.MustNewConstMetric(urlsDesc, prometheus.GaugeValue, float64(n), c.Name, state)
	}
	ch <- prometheus.MustNewConstMetric(pagesDesc, prometheus.CounterValue, float64(c.Pages), c.Name)
	for class, n := range c.Attempts {
		ch <- prometheus.MustNewConstMetric(asksDesc, prometheus.CounterValue, float64(n), c.Name, string(class))
	}
}

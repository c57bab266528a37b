// Package figures stores a day of observations of a cluster, for charts of crawls.
//
// A Sampler reads each observation of snapshots.Feed, and returns charts of the last hour and the
// last day. It keeps at most maxCrawls crawls in fixed-size rings, so its memory is bounded: about
// 20 MB. Charts have gaps where there was no poll. With a file, the figures survive a restart.
package figures

import (
	"cmp"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"seine/internal/ops/overview"
)

const (
	maxCrawls = 50
	storeEach = 2 * time.Minute
	rateOver  = 30 // seconds over which the rate of a crawl is computed
	apart     = 15 // largest interval of consecutive observations, in seconds
)

// Sampler stores observations. It is safe for concurrent use.
type Sampler struct {
	file string
	log  *slog.Logger

	mu     sync.Mutex
	whole  *series
	crawls map[string]*series
	stored time.Time
}

// New returns a sampler with the figures of a file, if it exists; "" stores nothing.
func New(file string, log *slog.Logger) *Sampler {
	s := &Sampler{file: file, log: log, whole: newSeries(), crawls: make(map[string]*series), stored: time.Now()}
	s.load()
	return s
}

// Observe adds an observation. It replaces the rate of each crawl by the mean over half a minute, which
// varies less than that between two observations.
func (s *Sampler) Observe(o *overview.Overview) {
	s.mu.Lock()
	s.observe(o)
	due := time.Since(s.stored) >= storeEach
	s.mu.Unlock()
	if due {
		s.Store()
	}
}

func (s *Sampler) observe(o *overview.Overview) {
	at := o.At.Unix()
	whole := Point{At: at}
	if last := s.whole.last(); last != nil {
		whole.Pages, whole.Bytes, whole.Answers = last.Pages, last.Bytes, last.Answers
	}
	for i := range o.Crawls {
		c := &o.Crawls[i]
		if c.Unasked || c.Problem != "" {
			continue
		}
		p := pointOf(at, c)
		whole.Queued, whole.Done, whole.Failed = whole.Queued+p.Queued, whole.Done+p.Done, whole.Failed+p.Failed
		of := s.crawls[c.Name]
		if of == nil {
			of = newSeries()
			s.crawls[c.Name] = of
			if began := c.Started / 1000; began > 0 && began < at && at-began <= apart { // the crawl began between two observations, without URLs
				of.add(Point{At: began})
			}
		}
		if was := of.last(); was != nil && at-was.At <= apart {
			whole.grow(was, &p)
		}
		of.add(p)
		o.SetRate(c, of.rate(rateOver)) // smoother than the rate between two observations
	}
	s.whole.add(whole)
	s.forget(at)
}

// forget drops the least recently seen crawls beyond maxCrawls, and those not seen for a day.
func (s *Sampler) forget(now int64) {
	maps.DeleteFunc(s.crawls, func(_ string, of *series) bool {
		last := of.last()
		return last == nil || now-last.At > 24*3600
	})
	if len(s.crawls) <= maxCrawls {
		return
	}
	names := slices.SortedFunc(maps.Keys(s.crawls), func(a, b string) int {
		return cmp.Compare(s.crawls[b].last().At, s.crawls[a].last().At)
	})
	for _, name := range names[maxCrawls:] {
		delete(s.crawls, name)
	}
}

// Chart returns the chart of a crawl, or of all for "".
func (s *Sampler) Chart(crawl string, span Span, now time.Time) *Chart {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := s.whole
	if crawl != "" {
		if of = s.crawls[crawl]; of == nil {
			of = newSeries()
		}
	}
	return of.chart(span, now)
}

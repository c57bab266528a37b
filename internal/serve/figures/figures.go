// Package figures remembers for a day what was seen of a cluster, for charts of crawls.
//
// A Sampler consumes each look of snapshots.Feed, and gives charts of the last hour and of the last day. It keeps at
// most maxCrawls crawls, each in rings of fixed length, so its memory has a bound: about 20 MB. Where there was no poll,
// charts have gaps; what was seen is in a file over a restart, if it is given one.
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
	apart     = 15 // seconds between two looks that still follow each other
)

// Sampler is safe for concurrent use.
type Sampler struct {
	file string
	log  *slog.Logger

	mu     sync.Mutex
	whole  *series
	crawls map[string]*series
	stored time.Time
}

// New returns a sampler that has seen what is in the file, if there is one; "" keeps nothing.
func New(file string, log *slog.Logger) *Sampler {
	s := &Sampler{file: file, log: log, whole: newSeries(), crawls: make(map[string]*series), stored: time.Now()}
	s.load()
	return s
}

// Saw takes a look in, and tells with it the rate of each crawl over half a minute in place of that since the look
// before, which jumps.
func (s *Sampler) Saw(o *overview.Overview) {
	s.mu.Lock()
	s.saw(o)
	due := time.Since(s.stored) >= storeEach
	s.mu.Unlock()
	if due {
		s.Store()
	}
}

func (s *Sampler) saw(o *overview.Overview) {
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
			if began := c.Started / 1000; began > 0 && began < at && at-began <= apart { // between two looks, with nothing
				of.add(Point{At: began})
			}
		}
		if was := of.last(); was != nil && at-was.At <= apart {
			whole.grow(was, &p)
		}
		of.add(p)
		o.SetRate(c, of.rate(rateOver)) // that between two looks jumps
	}
	s.whole.add(whole)
	s.forget(at)
}

// forget drops the crawls that were seen least recently, beyond maxCrawls, and those of which all is older than a
// day.
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

// Chart draws a crawl, all of them for "".
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

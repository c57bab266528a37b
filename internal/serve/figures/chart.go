package figures

import (
	"cmp"
	"time"
)

// Span is the period of a chart.
type Span string

// Spans of charts.
const (
	Hour Span = "hour"
	Day  Span = "day"
)

// Chart is the data of a chart for one crawl or all: lists of equal length, with a value for each
// time. A value is nil if there was no poll; the line has a gap there.
type Chart struct {
	From   int64                 `json:"from"` // Unix seconds
	To     int64                 `json:"to"`
	At     []int64               `json:"at"`      // Unix seconds
	Pages  []*float64            `json:"pages"`   // per second
	Bytes  []*float64            `json:"bytes"`   // per second
	Answer map[string][]*float64 `json:"answers"` // per second, by group
	Queued []*float64            `json:"queued"`
	Done   []*float64            `json:"done"`
	Failed []*float64            `json:"failed"`
}

// chart returns the chart of a series up to a time.
func (s *series) chart(span Span, now time.Time) *Chart {
	r, back := &s.Fine, time.Hour
	if span == Day {
		r, back = &s.Coarse, 24*time.Hour
	}
	c := &Chart{From: now.Add(-back).Unix(), To: now.Unix(), At: []int64{}, Answer: make(map[string][]*float64)}
	points := r.since(c.From)
	for i := range points {
		p := &points[i]
		if i == 0 {
			if p.At >= c.From {
				c.add(p, nil)
			}
			continue
		}
		was := &points[i-1]
		if i == len(points)-1 && p.At-was.At < r.Step-1 {
			break // the period is too short for a meaningful rate
		}
		if p.At-was.At > max(apart, 3*r.Step) {
			c.gap(was.At + r.Step)
			was = nil
		}
		c.add(p, was)
	}
	return c
}

// add adds a point. Rates are relative to the previous point, if there is one.
func (c *Chart) add(p, was *Point) {
	c.At = append(c.At, p.At)
	count := func(n int64) *float64 { return new(float64(n)) }
	c.Queued, c.Done, c.Failed = append(c.Queued, count(p.Queued)), append(c.Done, count(p.Done)), append(c.Failed, count(p.Failed))
	before := cmp.Or(was, new(Point))
	rate := func(now, then int64) *float64 {
		if was == nil || now < then { // the crawl was re-created
			return nil
		}
		return new(float64(now-then) / float64(p.At-was.At))
	}
	c.Pages, c.Bytes = append(c.Pages, rate(p.Pages, before.Pages)), append(c.Bytes, rate(p.Bytes, before.Bytes))
	for g, name := range groupNames {
		c.Answer[name] = append(c.Answer[name], rate(p.Answers[g], before.Answers[g]))
	}
}

// gap adds a time without values.
func (c *Chart) gap(at int64) {
	c.At = append(c.At, at)
	for _, list := range []*[]*float64{&c.Pages, &c.Bytes, &c.Queued, &c.Done, &c.Failed} {
		*list = append(*list, nil)
	}
	for _, name := range groupNames {
		c.Answer[name] = append(c.Answer[name], nil)
	}
}

// Summary is a chart in a few numbers, for people who cannot see it.
type Summary struct {
	Mean, Peak float64 // pages per second
	Known      bool    // set if there is any value
}

// Summarize summarizes the pages per second.
func (c *Chart) Summarize() (s Summary) {
	n := 0.0
	for _, v := range c.Pages {
		if v == nil {
			continue
		}
		s.Known = true
		s.Peak = max(s.Peak, *v)
		s.Mean += *v
		n++
	}
	if n > 0 {
		s.Mean /= n
	}
	return s
}

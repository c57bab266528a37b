package frontier

import (
	"cmp"
	"context"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
)

// Survey is how the hosts stand as a whole, and what went wrong at them lately.
type Survey struct {
	// Hosts counts those with something queued or under way by what they wait
	// for: the reasons of HostStatus.Why, Asked or Due.
	Hosts map[string]int64 `json:"hosts,omitempty"`
	// Partial says that there are so many hosts that not all were looked at.
	Partial bool `json:"partial,omitempty"`
	// Slowest have the longest mean request, Longest the longest queues, Busiest
	// the most requests; of those with work, the first of each first.
	Slowest []HostStatus `json:"slowest,omitempty"`
	Longest []HostStatus `json:"longest,omitempty"`
	Busiest []HostStatus `json:"busiest,omitempty"`
	// Troubles are requests that did not end well, the last first.
	Troubles []RequestFailure `json:"troubles,omitempty"`
}

// What hosts do that do not wait.
const (
	Asked = "asked" // a request is under way
	Due   = "due"   // one may be sent
)

const (
	// maxSurveyTop bounds each list of a Survey.
	maxSurveyTop = 100
	// maxSurveyed bounds how many hosts one partition looks at for a Survey; that
	// takes some 50 ms.
	maxSurveyed = 20_000
	// surveyRest is how many times as long as a survey took it is taken for true:
	// people who look must not slow down what they look at.
	surveyRest = 20
)

// surveyed is a survey that was made.
type surveyed struct {
	Survey
	about Query
	until time.Time
}

// survey answers opSurvey, with the last answer if it is fresh.
func (p *partitionLoop) survey(about Query) (Survey, error) {
	about.Top = max(0, min(about.Top, maxSurveyTop))
	if p.surveyed.about != about || !time.Now().Before(p.surveyed.until) {
		began := time.Now()
		s, err := p.surveyHosts(about.Crawl, about.Top)
		if err != nil {
			return Survey{}, err
		}
		p.surveyed = surveyed{Survey: s, about: about, until: time.Now().Add(surveyRest * time.Since(began))}
	}
	s := p.surveyed.Survey
	s.Troubles = p.troubles.newest(about.Crawl, about.Top)
	return s, nil
}

func (p *partitionLoop) surveyHosts(crawl string, top int) (s Survey, err error) {
	pre := prefix(p.partition, kindHost)
	scanned := 0
	err = p.store.scan(pre, nil, func(key, value []byte) (bool, error) {
		if scanned++; scanned > maxSurveyed {
			s.Partial = true
			return false, nil
		}
		h, err := decodeHost(string(key[len(pre):]), value)
		if err != nil {
			return true, nil // it is made anew when it is its turn
		}
		st, err := p.describe(h)
		if err == nil && st.worksFor(crawl) {
			s.add(&st, top)
		}
		return true, err
	})
	s.cut(top)
	return s, err
}

// worksFor reports whether a crawl has something queued or under way there; any
// crawl for "".
func (st *HostStatus) worksFor(crawl string) bool {
	if crawl == "" {
		return len(st.Crawls) > 0
	}
	return slices.ContainsFunc(st.Crawls, func(w HostWork) bool { return w.Crawl == crawl })
}

func (s *Survey) add(st *HostStatus, top int) {
	why := st.Why
	switch {
	case why != "":
	case st.InFlight > 0:
		why = Asked
	default:
		why = Due
	}
	increase(&s.Hosts, why, 1)
	s.Slowest, s.Longest, s.Busiest = append(s.Slowest, *st), append(s.Longest, *st), append(s.Busiest, *st)
	if len(s.Slowest) > 4*top+64 {
		s.cut(top)
	}
}

// cut keeps the first of each list.
func (s *Survey) cut(top int) {
	keep := func(hs []HostStatus, by func(*HostStatus) int64) []HostStatus {
		slices.SortFunc(hs, func(a, b HostStatus) int {
			return cmp.Or(cmp.Compare(by(&b), by(&a)), cmp.Compare(a.Host, b.Host))
		})
		return hs[:min(len(hs), top)]
	}
	s.Slowest = keep(s.Slowest, func(h *HostStatus) int64 { return h.MeanMS })
	s.Longest = keep(s.Longest, func(h *HostStatus) int64 { return int64(h.Queued) })
	s.Busiest = keep(s.Busiest, func(h *HostStatus) int64 { return h.Requests })
}

// Survey returns how the hosts that a crawl has work for stand, those of all
// crawls for "", with at most top in each list. Asking often costs little: an
// answer may be some seconds old where there are many hosts.
func (c *Client) Survey(ctx context.Context, crawl string, top int) (*Survey, error) {
	parts := make([]Survey, c.Bus.Layout.Partitions)
	g, ctx := errgroup.WithContext(ctx)
	for p := range parts {
		g.Go(func() error { return c.queryPartition(ctx, opSurvey, p, Query{Crawl: crawl, Top: top}, &parts[p]) })
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	all := new(Survey)
	for i := range parts {
		p := &parts[i]
		for why, n := range p.Hosts {
			increase(&all.Hosts, why, n)
		}
		all.Partial = all.Partial || p.Partial
		all.Slowest, all.Longest, all.Busiest = append(all.Slowest, p.Slowest...), append(all.Longest, p.Longest...), append(all.Busiest, p.Busiest...)
		all.Troubles = append(all.Troubles, p.Troubles...)
	}
	all.cut(top)
	slices.SortFunc(all.Troubles, func(a, b RequestFailure) int { return cmp.Compare(b.AtMS, a.AtMS) })
	all.Troubles = all.Troubles[:min(len(all.Troubles), top)]
	return all, nil
}

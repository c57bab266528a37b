package frontier

import (
	"slices"
	"time"

	"seine/internal/base/tally"
	"seine/pkg/stages/frontier/frontierapi"
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
	frontierapi.Survey
	about frontierapi.Query
	until time.Time
}

// survey answers OpSurvey, with the last answer if it is fresh.
func (p *partitionLoop) survey(about frontierapi.Query) (frontierapi.Survey, error) {
	about.Top = max(0, min(about.Top, maxSurveyTop))
	if p.surveyed.about != about || !time.Now().Before(p.surveyed.until) {
		began := time.Now()
		s, err := p.surveyHosts(about.Crawl, about.Top)
		if err != nil {
			return frontierapi.Survey{}, err
		}
		p.surveyed = surveyed{Survey: s, about: about, until: time.Now().Add(surveyRest * time.Since(began))}
	}
	s := p.surveyed.Survey
	s.Troubles = p.troubles.newest(about.Crawl, about.Top)
	return s, nil
}

func (p *partitionLoop) surveyHosts(crawl string, top int) (s frontierapi.Survey, err error) {
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
		if err == nil && worksFor(&st, crawl) {
			addToSurvey(&s, &st, top)
		}
		return true, err
	})
	s.Cut(top)
	return s, err
}

// worksFor reports whether a crawl has something queued or under way there; any
// crawl for "".
func worksFor(st *frontierapi.HostStatus, crawl string) bool {
	if crawl == "" {
		return len(st.Crawls) > 0
	}
	return slices.ContainsFunc(st.Crawls, func(w frontierapi.HostWork) bool { return w.Crawl == crawl })
}

func addToSurvey(s *frontierapi.Survey, st *frontierapi.HostStatus, top int) {
	why := st.Why
	switch {
	case why != "":
	case st.InFlight > 0:
		why = frontierapi.Asked
	default:
		why = frontierapi.Due
	}
	tally.Add(&s.Hosts, why, 1)
	s.Slowest, s.Longest, s.Busiest = append(s.Slowest, *st), append(s.Longest, *st), append(s.Busiest, *st)
	if len(s.Slowest) > 4*top+64 {
		s.Cut(top)
	}
}

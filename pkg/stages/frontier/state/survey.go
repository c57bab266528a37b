package state

import (
	"slices"

	"seine/internal/base/tally"
	"seine/pkg/stages/frontier/frontierapi"
	"seine/pkg/stages/frontier/table"
)

const (
	// maxSurveyTop bounds each list of a Survey.
	maxSurveyTop = 100
	// maxSurveyed bounds how many hosts one partition looks at for a Survey; that
	// takes some 50 ms.
	maxSurveyed = 20_000
)

// Survey answers OpSurvey.
func (s *Partition) Survey(about frontierapi.Query) (frontierapi.Survey, error) {
	top := max(0, min(about.Top, maxSurveyTop))
	found, err := s.surveyHosts(about.Crawl, top)
	found.Troubles = s.recentFailures.newest(about.Crawl, top)
	return found, err
}

func (s *Partition) surveyHosts(crawl string, top int) (out frontierapi.Survey, err error) {
	pre := table.Prefix(s.partition, kindHost)
	scanned := 0
	err = s.store.scan(pre, nil, func(key, value []byte) (bool, error) {
		if scanned++; scanned > maxSurveyed {
			out.Partial = true
			return false, nil
		}
		h, err := decodeHost(string(key[len(pre):]), value)
		if err != nil {
			return true, nil // it is made again when it is its turn
		}
		st, err := s.describe(h)
		if err == nil && worksFor(&st, crawl) {
			addToSurvey(&out, &st, top)
		}
		return true, err
	})
	out.Cut(top)
	return out, err
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

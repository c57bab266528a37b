package pages

import (
	"net/http"

	"seine/internal/ops/overview"
	"seine/internal/serve/cluster"
	"seine/pkg/stages/frontier/frontierapi"
)

// overviewPage is how everything stands.
type overviewPage struct {
	*overview.Overview
	Charts Charts
	Latest []overview.Crawl // those in which something happened last
	Active int              // crawls in which something is to happen
	First  bool             // there is no crawl yet
	Rate   float64          // pages a second, of all crawls
	Left   int64            // URLs that something is still to happen to
}

// maxLatest is how many crawls the overview has.
const maxLatest = 10

func (s *server) overview(r *http.Request) (any, error) {
	charts, err := s.chartsOf(r, "")
	if err != nil {
		return nil, err
	}
	look := s.look(r.Context())
	p := overviewPage{Overview: look.Overview, Charts: charts, First: look.Mode == cluster.Empty}
	if p.Overview == nil {
		return p, nil
	}
	for i := range p.Crawls {
		c := &p.Crawls[i]
		p.Rate, p.Left = p.Rate+c.Rate, p.Left+c.Pending()
		if c.End == "" && !c.Unasked {
			p.Active++
		}
	}
	p.Latest = byActivity(p.Crawls, p.At)
	p.Latest = p.Latest[:min(len(p.Latest), maxLatest)]
	p.First = len(p.Crawls) == 0
	return p, nil
}

// HostsWithWork is how many hosts have something queued or in flight.
func (p overviewPage) HostsWithWork() (n int64) {
	for _, of := range p.Hosts.Hosts {
		n += of
	}
	return n
}

// Waits are what hosts wait for, the commonest first.
func (p overviewPage) Waits() []choice {
	if p.Hosts == nil {
		return nil
	}
	return byCount(p.Hosts.Hosts)
}

// maxLately is how many failed requests the overview has.
const maxLately = 8

// Lately has the last failed requests.
func (p overviewPage) Lately() []frontierapi.RequestFailure {
	return p.Hosts.Troubles[:min(len(p.Hosts.Troubles), maxLately)]
}

package pages

import (
	"net/http"

	"seine/internal/ops/overview"
	"seine/internal/serve/cluster"
	"seine/pkg/stages/frontier/frontierapi"
)

// overviewPage is the overview of the cluster.
type overviewPage struct {
	*overview.Overview
	Charts Charts
	Latest []overview.Crawl // crawls with the latest activity
	Active int              // number of active crawls
	First  bool             // no crawl exists yet
	Rate   float64          // pages per second of all crawls
	Left   int64            // pending URLs
}

// maxLatest bounds the crawls on the overview.
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

// HostsWithWork returns the number of hosts with queued or in-flight URLs.
func (p overviewPage) HostsWithWork() (n int64) {
	for _, of := range p.Hosts.Hosts {
		n += of
	}
	return n
}

// Waits returns the states of hosts, the most frequent first.
func (p overviewPage) Waits() []choice {
	if p.Hosts == nil {
		return nil
	}
	return byCount(p.Hosts.Hosts)
}

// maxLately bounds the failed requests on the overview.
const maxLately = 8

// Lately returns the latest failed requests.
func (p overviewPage) Lately() []frontierapi.RequestFailure {
	return p.Hosts.Troubles[:min(len(p.Hosts.Troubles), maxLately)]
}

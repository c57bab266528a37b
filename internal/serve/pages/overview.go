package pages

import (
	"cmp"
	"net/http"
	"slices"

	"seine/internal/ops/overview"
	"seine/internal/serve/cluster"
	"seine/pkg/stages/frontier/frontierapi"
)

// overviewPage is how everything stands.
type overviewPage struct {
	*overview.Overview
	Charts Charts
	Active []overview.Crawl // those in which something is to happen, the largest first
	More   int              // crawls beside those of Active
	First  bool             // there is no crawl yet
	Rate   float64          // pages a second, of all crawls
	Left   int64            // URLs that something is still to happen to
}

// maxActive is how many crawls the overview has.
const maxActive = 10

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
			p.Active = append(p.Active, *c)
		}
	}
	slices.SortStableFunc(p.Active, func(a, b overview.Crawl) int {
		return cmp.Or(cmp.Compare(b.Rate, a.Rate), cmp.Compare(b.Pending(), a.Pending()))
	})
	p.Active = p.Active[:min(len(p.Active), maxActive)]
	p.More, p.First = len(p.Crawls)-len(p.Active), len(p.Crawls) == 0
	return p, nil
}

// stateOf is how a crawl stands, in the word that its mark has.
func stateOf(c *overview.Crawl) string {
	switch {
	case c.Unasked:
		return "unasked"
	case c.Problem != "" || c.Still:
		return "trouble"
	case c.State == overview.Paused, c.State == overview.Cancelled:
		return string(c.State)
	case c.End != "":
		return "ended"
	}
	return "running"
}

// HostsWithWork is how many hosts have something queued or under way.
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

// Lately are the last failed requests.
func (p overviewPage) Lately() []frontierapi.RequestFailure {
	return p.Hosts.Troubles[:min(len(p.Hosts.Troubles), maxLately)]
}

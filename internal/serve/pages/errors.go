package pages

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"seine/internal/ops/failures"
	"seine/internal/ops/overview"
	"seine/pkg/stages"
	"seine/pkg/stages/frontier/frontierapi"
)

// errorsPage is the list of failures: of all crawls by class, or of one crawl by host and URL.
type errorsPage struct {
	Crawl, Class string
	Crawls       []crawlFailures
	Names        []string
	Classes      []choice // of the crawl
	Troubles     []frontierapi.RequestFailure
	*failures.Found
	URLs  []frontierapi.FailedURL
	Pager Pager
}

// crawlFailures is the number of failed URLs of a crawl, by class.
type crawlFailures struct {
	Name string
	N    int64
	By   []choice
}

// Bounds of a search for failures.
const (
	failuresLook = 100_000
	failuresKeep = 1000
	failuresTold = 30 * time.Second // how long results are reused
)

func (up urlPages) errors(r *http.Request) (any, error) {
	p := errorsPage{Crawl: r.FormValue("crawl"), Class: r.FormValue("class"), Names: up.crawlNames(r)}
	if p.Crawl == "" {
		look := up.look(r.Context()).Overview
		if look == nil {
			return p, nil
		}
		p.Crawls = failuresOf(look)
		if look.Hosts != nil {
			p.Troubles = look.Hosts.Troubles[:min(len(look.Hosts.Troubles), perPage)]
		}
		return p, nil
	}
	if p.Class != "" {
		if err := frontierapi.CheckFailure(p.Class); err != nil {
			return nil, badInput{err}
		}
	}
	c, err := up.findCrawl(r, p.Crawl)
	if err != nil {
		return nil, err
	}
	p.Classes = byCount(c.FailedBy)
	if p.Found, err = up.failures(r, p.Crawl, p.Class); err != nil {
		return nil, err
	}
	p.URLs, p.Pager, err = cut(r, p.Found.URLs)
	return p, err
}

func (up urlPages) failures(r *http.Request, crawl, class string) (*failures.Found, error) {
	q := failures.Query{
		Crawl: crawl, Class: class, Host: strings.TrimSpace(r.FormValue("host")), Text: strings.TrimSpace(r.FormValue("q")),
		Look: failuresLook, Keep: failuresKeep,
	}
	return asked(r.Context(), up.server, fmt.Sprintf("failures %+v", q), failuresTold, func(ctx context.Context, bus *stages.Bus) (*failures.Found, error) {
		return failures.Find(ctx, bus, q)
	})
}

// failuresOf lists the crawls with failures, the most failures first.
func failuresOf(look *overview.Overview) (all []crawlFailures) {
	for i := range look.Crawls {
		if c := &look.Crawls[i]; c.Failed > 0 {
			all = append(all, crawlFailures{c.Name, c.Failed, byCount(c.FailedBy)})
		}
	}
	slices.SortFunc(all, func(a, b crawlFailures) int { return cmp.Or(cmp.Compare(b.N, a.N), strings.Compare(a.Name, b.Name)) })
	return all
}

// byCount sorts counts, the largest first.
func byCount[K ~string](counts map[K]int64) (all []choice) {
	for name, n := range counts {
		all = append(all, choice{string(name), n})
	}
	slices.SortFunc(all, func(a, b choice) int { return cmp.Or(cmp.Compare(b.N, a.N), strings.Compare(a.Value, b.Value)) })
	return all
}

// TopHosts returns the hosts with the most failures.
func (p errorsPage) TopHosts() []failures.Host { return p.Hosts[:min(len(p.Hosts), maxFailingHosts)] }

// MoreHosts returns the number of further hosts.
func (p errorsPage) MoreHosts() int { return len(p.Hosts) - len(p.TopHosts()) }

// maxFailingHosts bounds the hosts on a page of errors.
const maxFailingHosts = 20

package pages

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"seine/internal/base/weburl"
	"seine/internal/ops/lookup"
	"seine/internal/ops/overview"
	"seine/pkg/crawlspec"
	"seine/pkg/stages"
	"seine/pkg/stages/frontier/frontierapi"
)

// urlPages are the pages of hosts, URLs, failures and seeds.
type urlPages struct{ *server }

// hostsPage is a list of hosts with work.
type hostsPage struct {
	Hosts   []frontierapi.HostStatus
	Pager   Pager
	Whys    []choice // what hosts wait for, the commonest first
	Known   bool     // whether anybody could say
	Total   int64    // hosts with work
	Partial bool     // not all of them were looked at
	Listed  int      // of Total, those that are shown: the first by each order
	Sort    string
	Exact   string // the name that was searched for, if it could be a host
	Crawls  []string
}

// hostOrders are by what hosts are sorted, the largest first.
var hostOrders = map[string]func(*frontierapi.HostStatus) int64{
	"queued":   func(h *frontierapi.HostStatus) int64 { return int64(h.Queued) },
	"requests": func(h *frontierapi.HostStatus) int64 { return h.Requests },
	"pages":    func(h *frontierapi.HostStatus) int64 { return h.Pages },
	"errors":   func(h *frontierapi.HostStatus) int64 { return h.Errors },
	"mean":     func(h *frontierapi.HostStatus) int64 { return h.MeanMS },
	"delay":    func(h *frontierapi.HostStatus) int64 { return h.DelayMS },
	"next":     func(h *frontierapi.HostStatus) int64 { return h.NextMS },
	"bytes":    func(h *frontierapi.HostStatus) int64 { return h.Bytes },
}

func (up urlPages) hosts(r *http.Request) (any, error) {
	p := hostsPage{Sort: cmp.Or(r.FormValue("sort"), "queued"), Crawls: up.crawlNames(r)}
	if p.Sort != "host" && hostOrders[p.Sort] == nil {
		return nil, badInput{fmt.Errorf("sort %q: must be the name of a column", p.Sort)}
	}
	survey, err := up.survey(r, r.FormValue("crawl"))
	if err != nil || survey == nil {
		return p, err
	}
	p.Known, p.Partial = true, survey.Partial
	p.Whys = byCount(survey.Hosts)
	for _, why := range p.Whys {
		p.Total += why.N
	}
	all := told(survey)
	p.Listed = len(all)
	text, why := strings.ToLower(strings.TrimSpace(r.FormValue("q"))), r.FormValue("why")
	all = slices.DeleteFunc(all, func(h frontierapi.HostStatus) bool {
		return !strings.Contains(h.Host, text) || why != "" && why != doing(&h)
	})
	if _, err := crawlspec.HostName(text); text != "" && err == nil {
		p.Exact = text
	}
	sortHosts(all, p.Sort)
	p.Hosts, p.Pager, err = cut(r, all)
	return p, err
}

// survey returns how the hosts stand; nil if it is not known yet.
func (up urlPages) survey(r *http.Request, crawl string) (*frontierapi.Survey, error) {
	if crawl == "" {
		if look := up.look(r.Context()).Overview; look != nil {
			return look.Hosts, nil
		}
		return nil, nil
	}
	return asked(r.Context(), up.server, "hosts of "+crawl, fresh, func(ctx context.Context, bus *stages.Bus) (*frontierapi.Survey, error) {
		return frontierapi.Client{Bus: bus}.Survey(ctx, crawl, surveyed)
	})
}

// surveyed is how many hosts of each order a frontier tells at most.
const surveyed = 100

// told are the hosts of a survey, each once.
func told(survey *frontierapi.Survey) (all []frontierapi.HostStatus) {
	seen := make(map[string]bool)
	for _, h := range slices.Concat(survey.Longest, survey.Busiest, survey.Slowest) {
		if !seen[h.Host] {
			seen[h.Host] = true
			all = append(all, h)
		}
	}
	return all
}

// doing is what a host waits for, or does.
func doing(h *frontierapi.HostStatus) string {
	switch {
	case h.Why != "":
		return h.Why
	case h.InFlight > 0:
		return frontierapi.Asked
	}
	return frontierapi.Due
}

func sortHosts(all []frontierapi.HostStatus, by string) {
	slices.SortFunc(all, func(a, b frontierapi.HostStatus) int {
		if order := hostOrders[by]; order != nil && order(&a) != order(&b) {
			return cmp.Compare(order(&b), order(&a))
		}
		return strings.Compare(a.Host, b.Host)
	})
}

// crawlNames are the crawls that a list can be limited to.
func (s *server) crawlNames(r *http.Request) (names []string) {
	look := s.look(r.Context()).Overview
	if look == nil {
		return nil
	}
	for _, c := range byActivity(look.Crawls, look.At) {
		names = append(names, c.Name)
	}
	return names[:min(len(names), maxChoices)]
}

// maxChoices bounds the crawls that a field offers; others can be written into it.
const maxChoices = 200

// hostPage is one host.
type hostPage struct {
	frontierapi.HostStatus
	Robots []overview.Robots
	Recent []frontierapi.RequestFailure // of the last ones of all hosts, those of this one
	Fixed  map[string]bool              // crawls that fetch nothing, whatever is ordered for one host
}

func (p hostPage) title() string { return "Host " + p.Host }

func (up urlPages) host(r *http.Request) (any, error) {
	name := strings.ToLower(r.PathValue("host"))
	if _, err := crawlspec.HostName(name); err != nil {
		return nil, badInput{err}
	}
	return asked(r.Context(), up.server, "host "+name, fresh, func(ctx context.Context, bus *stages.Bus) (p hostPage, err error) {
		if p.HostStatus, err = lookup.Host(ctx, frontierapi.Client{Bus: bus}, name); err != nil {
			return p, err
		}
		p.Robots, err = overview.RobotsOf(ctx, bus, p.Host)
		look := up.look(r.Context()).Overview
		if look == nil {
			return p, err
		}
		p.Fixed = make(map[string]bool)
		for i := range look.Crawls {
			p.Fixed[look.Crawls[i].Name] = !look.Crawls[i].StateInWords().May("pause")
		}
		if look.Hosts != nil {
			for _, t := range look.Hosts.Troubles {
				if weburl.Host(t.URL) == p.Host {
					p.Recent = append(p.Recent, t)
				}
			}
		}
		return p, err
	})
}

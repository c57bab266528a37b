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

// urlPages are the pages about hosts, URLs, failures and seeds.
type urlPages struct{ *server }

// hostsPage lists hosts with work.
type hostsPage struct {
	Hosts   []frontierapi.HostStatus
	Pager   Pager
	Whys    []choice // states of hosts, the most frequent first
	Known   bool     // the figures are available
	Total   int64    // hosts with work
	Partial bool     // not all hosts were examined
	Listed  int      // number of listed hosts out of Total: the first ones by each order
	Sort    string
	Exact   string // the searched name, if it could be a host
	Crawls  []string
}

// hostOrders are the sort keys of hosts, the largest first.
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
	all := distinctHosts(survey)
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

// survey returns the state of the hosts; nil if it is unknown.
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

// surveyed bounds the hosts of each order that a frontier returns.
const surveyed = 100

// distinctHosts returns the hosts of a survey without duplicates.
func distinctHosts(survey *frontierapi.Survey) (all []frontierapi.HostStatus) {
	seen := make(map[string]bool)
	for _, h := range slices.Concat(survey.Longest, survey.Busiest, survey.Slowest) {
		if !seen[h.Host] {
			seen[h.Host] = true
			all = append(all, h)
		}
	}
	return all
}

// doing returns the state of a host.
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

// crawlNames returns the crawls for a filter.
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

// maxChoices bounds the crawls that a field suggests; others can be typed.
const maxChoices = 200

// hostPage is the page of a host.
type hostPage struct {
	frontierapi.HostStatus
	Robots []overview.Robots
	Recent []frontierapi.RequestFailure // recent failures of this host
	Fixed  map[string]bool              // crawls that fetch nothing, so orders for single hosts have no effect
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

package api

import (
	"context"
	"net/http"

	"seine/internal/base/weburl"
	"seine/internal/ops/lookup"
	"seine/internal/serve/caller"
	"seine/pkg/stages"
	"seine/pkg/stages/frontier/frontierapi"
)

// Hosts is a list of hosts with work, and a summary of all of them.
type Hosts struct {
	Items   []frontierapi.HostStatus `json:"items" nullable:"false"`
	Waiting map[string]int64         `json:"waiting,omitempty" doc:"How many hosts with work wait for what; due and asked do not wait."`
	Partial bool                     `json:"partial,omitempty" doc:"There are so many hosts that not all were looked at."`
}

type hostsInput struct {
	Crawl string `query:"crawl" maxLength:"64" doc:"Only hosts that this crawl has work for."`
	Order string `query:"order" enum:"slowest,longest,busiest" default:"longest" doc:"By mean time of a request, by queue, or by requests."`
	Limit int    `query:"limit" minimum:"1" maximum:"1000" default:"50"`
}

type hostInput struct {
	Host string `path:"host" maxLength:"255" doc:"Name of the host, with its port if that is not the scheme's."`
}

func (u urlOperations) registerHosts() {
	register(u.API, operation{
		method: http.MethodGet, path: "/hosts", id: "list-hosts", shared: true, tag: "hosts", scope: caller.Read, errors: []int{404},
		summary: "Hosts with work", about: "Hosts in the chosen order, and counts by what they wait for.",
	}, u.listHosts)
	register(u.API, operation{
		method: http.MethodGet, path: "/hosts/{host}", id: "get-host", shared: true, tag: "hosts", scope: caller.Read, errors: []int{404},
		summary: "Status of a host", about: "What it waits for and until when, its delay, its last responses, and its crawls.",
	}, u.getHost)
}

func (u urlOperations) listHosts(ctx context.Context, in *hostsInput) (*body[Hosts], error) {
	look := u.Cluster.Do
	if in.Crawl != "" {
		look = u.ofCrawl(in.Crawl)
	}
	return ask(ctx, look, func(ctx context.Context, bus *stages.Bus) (out Hosts, err error) {
		s, err := frontierapi.Client{Bus: bus}.Survey(ctx, in.Crawl, in.Limit)
		if err != nil {
			return out, err
		}
		chosen := map[string][]frontierapi.HostStatus{"slowest": s.Slowest, "longest": s.Longest, "busiest": s.Busiest}[in.Order]
		return Hosts{append([]frontierapi.HostStatus{}, chosen...), s.Hosts, s.Partial}, nil
	})
}

func (u urlOperations) getHost(ctx context.Context, in *hostInput) (*body[frontierapi.HostStatus], error) {
	if _, err := weburl.Canonicalize("http://" + in.Host + "/"); err != nil {
		return nil, problemf(http.StatusUnprocessableEntity, "host %q: must be a name, with a port if need be, such as www.example.org or 127.0.0.1:8080", in.Host)
	}
	return ask(ctx, u.Cluster.Do, func(ctx context.Context, bus *stages.Bus) (frontierapi.HostStatus, error) {
		return lookup.Host(ctx, frontierapi.Client{Bus: bus}, in.Host)
	})
}

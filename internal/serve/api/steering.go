package api

import (
	"context"
	"net/http"

	"seine/internal/ops/steer"
	"seine/internal/serve/caller"
	"seine/pkg/crawlspec"
	"seine/pkg/stages"
)

// verbs are the operations that change the state of a crawl or a host.
var verbs = []struct {
	name  string
	state crawlspec.RunState
	about string
}{
	{"pause", crawlspec.Paused, "The frontier sends no more requests until the crawl is resumed; in-flight requests finish."},
	{"resume", crawlspec.Running, "The crawl continues."},
	{"cancel", crawlspec.Cancelled, "Excludes queued URLs and URLs found later; keeps fetched pages."},
}

type steerHostInput struct {
	CrawlPath
	Host string `path:"host" maxLength:"255" doc:"Name of the host, as www.example.org. A port is ignored: the order applies to all ports."`
	New  bool   `query:"new" doc:"The host may be one that nothing is known of yet."`
}

func (c crawlOperations) registerSteering() {
	for _, v := range verbs {
		register(c.API, operation{
			method: http.MethodPost, path: "/crawls/{crawl}/" + v.name, id: v.name + "-crawl", tag: "crawls", scope: caller.Write, again: true, errors: []int{404},
			summary: "Have a crawl " + v.name, about: v.about,
		}, func(ctx context.Context, in *CrawlPath) (*body[steer.Done], error) {
			return c.steer(ctx, steer.Order{Crawl: in.Crawl, State: v.state})
		})
		register(c.API, operation{
			method: http.MethodPost, path: "/crawls/{crawl}/hosts/{host}/" + v.name, id: v.name + "-host", tag: "hosts", scope: caller.Write, again: true, errors: []int{404},
			summary: "Have a crawl " + v.name + " at one host", about: v.about,
		}, func(ctx context.Context, in *steerHostInput) (*body[steer.Done], error) {
			if _, err := crawlspec.HostName(in.Host); err != nil {
				return nil, problemf(http.StatusUnprocessableEntity, "%v", err)
			}
			return c.steer(ctx, steer.Order{Crawl: in.Crawl, Host: in.Host, NewHost: in.New, State: v.state})
		})
	}
}

func (c crawlOperations) steer(ctx context.Context, order steer.Order) (*body[steer.Done], error) {
	done, err := ask(ctx, c.Cluster.Do, func(ctx context.Context, bus *stages.Bus) (steer.Done, error) {
		return steer.Set(ctx, bus, order)
	})
	if err == nil && order.State == crawlspec.Running && c.Starter != nil {
		c.Starter.Resume(order.Crawl)
	}
	return done, err
}

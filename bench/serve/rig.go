package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"seine/bench/fleet"
	"seine/bench/proc"
	"seine/internal/testing/testweb"
	"seine/pkg/crawlspec"
)

// rig is a web, a crawl of it, and the server that looks into that.
type rig struct {
	web    *testweb.Web
	site   *testweb.Server
	crawl  *fleet.Fleet
	server *proc.Process
	pages  string // where the server is
	url    string // of the API
	seeds  []string
}

// start starts all of them, and waits until the server has found the crawl.
func (o *options) start(ctx context.Context, bin, work string, fail context.CancelCauseFunc) (r *rig, err error) {
	r = &rig{web: testweb.New(testweb.Config{Hosts: o.Hosts, PagesPerHost: o.Pages, PageBytes: 8 << 10, LinksPerPage: 10, LogLimit: 1})}
	defer func() {
		if err != nil {
			r.close()
		}
	}()
	if r.site, err = testweb.Serve("127.0.0.1:0", r.web); err != nil {
		return r, fmt.Errorf("serve the test web: %w", err)
	}
	for h := range o.Hosts {
		r.seeds = append(r.seeds, r.site.URL(h, "/"))
	}
	spec := crawlspec.Default()
	spec.Delay, spec.PerHost = 0, 16
	if r.crawl, err = fleet.StartOne(fail, bin, work, &spec, r.seeds); err != nil {
		return r, err
	}
	ports, err := proc.FreePorts(1)
	if err != nil {
		return r, err
	}
	listen := "127.0.0.1:" + ports[0]
	r.pages = "http://" + listen
	r.url = r.pages + "/api/v1"
	if r.server, err = proc.Start(fail, work, filepath.Join(bin, "seine"), "serve", "--data", filepath.Join(work, "data"), "--listen", listen); err != nil {
		return r, err
	}
	return r, proc.Await(ctx, r.url+"/crawls/default")
}

func (r *rig) close() {
	if r.server != nil {
		r.server.Stop(true)
	}
	if r.crawl != nil {
		r.crawl.Close(false)
	}
	if r.site != nil {
		r.site.Close()
	}
}

// pagesWhile tells how many pages the crawl asked for a second while something was done.
func (r *rig) pagesWhile(do func() error) (float64, error) {
	before, began := r.web.Log().Dropped(), time.Now()
	err := do()
	return float64(r.web.Log().Dropped()-before) / time.Since(began).Seconds(), err
}

// pause has the crawl send nothing more.
func (r *rig) pause(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url+"/crawls/default/pause", nil)
	if err != nil {
		return fmt.Errorf("pause the crawl: %w", err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("pause the crawl: %w", err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("pause the crawl: %s", resp.Status)
	}
	return nil
}

// requests are those for some paths, or for what pages and programs ask for most.
func (r *rig) requests(paths []string) (all []request) {
	if len(paths) == 0 {
		paths = []string{
			"/status", "/stats", "/crawls", "/crawls/default", "/hosts?limit=20", "/crawls/default/failures?limit=20", "/records?limit=10",
			"/crawls/default/explain?brief=true&url=" + url.QueryEscape(r.seeds[0]),
		}
	}
	for _, path := range paths {
		name, _, _ := strings.Cut(path, "?")
		all = append(all, request{name, r.url + path})
	}
	return all
}

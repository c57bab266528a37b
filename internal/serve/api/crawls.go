package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"net/http"
	"sort"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"seine/internal/base/sleep"
	"seine/internal/ops/lookup"
	"seine/internal/ops/overview"
	"seine/internal/serve/caller"
	"seine/internal/serve/cluster"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/frontier/frontierapi"
)

// crawlOperations are the operations on crawls.
type crawlOperations struct{ *API }

// CrawlPath is a path with the name of a crawl.
type CrawlPath struct {
	Crawl string `path:"crawl" maxLength:"64" doc:"Name of the crawl."`
}

// Resolve implements huma.Resolver.
func (c *CrawlPath) Resolve(huma.Context) []error { return checkCrawl(c.Crawl, "path.crawl") }

// checkAnyCrawl is checkCrawl for an optional name.
func checkAnyCrawl(name, location string) []error {
	if name == "" {
		return nil
	}
	return checkCrawl(name, location)
}

func checkCrawl(name, location string) []error {
	if err := messages.CheckCrawl(name); err != nil {
		return []error{&huma.ErrorDetail{Message: err.Error(), Location: location}}
	}
	return nil
}

// PageInput is the page parameters of lists.
type PageInput struct {
	Cursor string `query:"cursor" maxLength:"4096" doc:"next of the page before."`
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"50" doc:"At most so many."`
}

func (c crawlOperations) registerCrawls() {
	register(c.API, operation{
		method: http.MethodGet, path: "/crawls", id: "list-crawls", shared: true, tag: "crawls", scope: caller.Read,
		summary: "List crawls", about: "Crawls by name, with state and counts.",
	}, c.listCrawls)
	register(c.API, operation{
		method: http.MethodGet, path: "/crawls/{crawl}", id: "get-crawl", tag: "crawls", scope: caller.Read, errors: []int{404},
		summary: "Status of a crawl", about: "Its state and counts. The ETag changes with them.", time: maxWait + askTime,
	}, c.waitForCrawl)
	register(c.API, operation{
		method: http.MethodPost, path: "/crawls", id: "create-crawl", tag: "crawls", scope: caller.Write, status: http.StatusCreated, body: 4 << 20, errors: []int{409},
		summary: "Begin a crawl", about: "Stores the spec, in YAML or JSON, and adds the seeds.",
	}, c.createCrawl)
	register(c.API, operation{
		method: http.MethodDelete, path: "/crawls/{crawl}", id: "delete-crawl", tag: "crawls", scope: caller.Write, status: http.StatusAccepted, errors: []int{404},
		summary: "Delete a crawl", about: "Deletes the state of the crawl and keeps its output. The deletion runs in the background: GET …/deletion returns its progress.",
	}, c.deleteCrawl)
	register(c.API, operation{
		method: http.MethodGet, path: "/crawls/{crawl}/deletion", id: "get-deletion", tag: "crawls", scope: caller.Read, errors: []int{404},
		summary: "Progress of a deletion", about: "Of the last deletion of a crawl with this name.",
	}, c.getDeletion)
	register(c.API, operation{
		method: http.MethodGet, path: "/crawls/{crawl}/runs", id: "list-runs", shared: true, tag: "crawls", scope: caller.Read, errors: []int{404},
		summary: "What each run found", about: "Newest first: new, changed and gone pages, records by kind.",
	}, c.listRuns)
	register(c.API, operation{
		method: http.MethodGet, path: "/crawls/{crawl}/reasons", id: "get-reasons", shared: true, tag: "crawls", scope: caller.Read, errors: []int{404},
		summary: "Why URLs ended without a page", about: "Counts by reason, with an example of each: failures, exclusions, pages without a record.",
	}, c.getReasons)
}

func (c crawlOperations) listCrawls(ctx context.Context, in *PageInput) (*body[page[overview.Crawl]], error) {
	out, err := ask(ctx, c.Cluster.Do, func(ctx context.Context, bus *stages.Bus) (p page[overview.Crawl], err error) {
		names, err := overview.Names(ctx, bus)
		if err != nil {
			return p, err
		}
		names = names[sort.SearchStrings(names, in.Cursor):]
		if len(names) > 0 && names[0] == in.Cursor { // the last one of the previous page
			names = names[1:]
		}
		if len(names) > in.Limit {
			names = names[:in.Limit]
			p.Next = names[len(names)-1]
		}
		p.Items, err = c.crawlsNow(ctx, bus, names...)
		return p, err
	})
	if errors.Is(err, cluster.ErrEmpty) {
		return answerOf(pageOf[overview.Crawl](nil, ""), nil)
	}
	return out, err
}

// crawlsNow returns the status of crawls. Stored crawls that do not run are idle.
func (a *API) crawlsNow(ctx context.Context, bus *stages.Bus, names ...string) ([]overview.Crawl, error) {
	crawls, err := overview.Crawls(ctx, bus, names...)
	idle := a.Cluster.IsStored(bus)
	for i := range crawls {
		crawls[i].Idle = idle
	}
	return crawls, err
}

type crawlInput struct {
	CrawlPath
	Wait        string `query:"wait" maxLength:"16" default:"0s" doc:"Answer when the state of a crawl that runs changes, or after this time, such as 30s; 60s at most."`
	IfNoneMatch string `header:"If-None-Match" doc:"The ETag of an earlier answer: 304 if nothing has changed."`
}

// has reports whether the caller has the version with a tag (RFC 9110 13.1.2).
func (c *crawlInput) has(tag string) bool {
	for one := range strings.SplitSeq(c.IfNoneMatch, ",") {
		if one = strings.TrimPrefix(strings.TrimSpace(one), "W/"); one == tag {
			return true
		}
	}
	return false
}

// maxWait bounds the wait for a change.
const maxWait = time.Minute

// waitForCrawl is getCrawl after the crawl has stopped running or the wait is over.
func (c crawlOperations) waitForCrawl(ctx context.Context, in *crawlInput) (*tagged[overview.Crawl], error) {
	wait, err := time.ParseDuration(in.Wait)
	if err != nil || wait < 0 || wait > maxWait {
		return nil, problemf(http.StatusUnprocessableEntity, "wait %q: must be 60s at most, such as 30s", in.Wait)
	}
	for until := time.Now().Add(wait); ; {
		out, err := share(c.API, "get-crawl", c.getCrawl)(ctx, &in.CrawlPath)
		switch {
		case err != nil:
			return nil, err
		case out.Body.State == overview.Running && time.Now().Before(until):
			if err := sleep.For(ctx, min(fresh, time.Until(until))); err != nil {
				return nil, err
			}
		default:
			return unlessKnown(in, out)
		}
	}
}

// unlessKnown returns a reply, or status 304 if the caller has it already.
func unlessKnown[T any](in *crawlInput, out *tagged[T]) (*tagged[T], error) {
	if in.has(out.ETag) {
		return nil, huma.ErrorWithHeaders(huma.Status304NotModified(), http.Header{"ETag": {out.ETag}})
	}
	return out, nil
}

func (c crawlOperations) getCrawl(ctx context.Context, in *CrawlPath) (*tagged[overview.Crawl], error) {
	out, err := ask(ctx, c.ofCrawl(in.Crawl), func(ctx context.Context, bus *stages.Bus) ([]overview.Crawl, error) {
		return c.crawlsNow(ctx, bus, in.Crawl)
	})
	if err != nil {
		return nil, err
	}
	return &tagged[overview.Crawl]{etagOf(out.Body[0]), out.Body[0]}, nil
}

// etagOf returns an ETag that changes with the value.
func etagOf(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // cannot fail: the reply has the same encoding
	}
	h := fnv.New64a()
	_, _ = h.Write(text)
	return fmt.Sprintf(`"%x"`, h.Sum64())
}

// Deletion is the progress of a deletion.
type Deletion struct {
	Crawl    string `json:"crawl"`
	Revision uint64 `json:"revision" doc:"Of the deletion."`
	Done     bool   `json:"done" doc:"Nothing is left of it."`
	Left     int    `json:"partitions_left" doc:"Partitions of the frontier that have something of it."`
}

func (c crawlOperations) deleteCrawl(ctx context.Context, in *CrawlPath) (*body[Deletion], error) {
	return ask(ctx, c.ofCrawl(in.Crawl), func(ctx context.Context, bus *stages.Bus) (Deletion, error) {
		rev, err := frontierapi.Client{Bus: bus}.Delete(ctx, in.Crawl)
		return Deletion{Crawl: in.Crawl, Revision: rev, Left: bus.Layout.Partitions}, err
	})
}

func (c crawlOperations) getDeletion(ctx context.Context, in *CrawlPath) (*body[Deletion], error) {
	return ask(ctx, c.Cluster.Do, func(ctx context.Context, bus *stages.Bus) (Deletion, error) {
		d := Deletion{Crawl: in.Crawl}
		have, err := stages.SpecOf(ctx, bus, in.Crawl)
		if err != nil {
			return d, err
		}
		if have.Deletion == nil {
			return d, problemf(http.StatusNotFound, "no crawl named %s was deleted: DELETE %s/crawls/%[1]s deletes one", in.Crawl, Base)
		}
		d.Revision, d.Done = have.Deletion.Rev, have.Deletion.Done
		if !d.Done {
			d.Left, err = frontierapi.Client{Bus: bus}.Remaining(ctx, in.Crawl, d.Revision)
		}
		return d, err
	})
}

func (c crawlOperations) listRuns(ctx context.Context, in *CrawlPath) (*body[page[frontierapi.Run]], error) {
	return ask(ctx, c.ofCrawl(in.Crawl), func(ctx context.Context, bus *stages.Bus) (p page[frontierapi.Run], err error) {
		spec, err := stages.SpecOf(ctx, bus, in.Crawl)
		if err != nil {
			return p, err
		}
		runs, err := frontierapi.Client{Bus: bus}.Runs(ctx, in.Crawl, spec.Spec, frontierapi.MaxRuns)
		return pageOf(runs, ""), err
	})
}

func (c crawlOperations) getReasons(ctx context.Context, in *CrawlPath) (*body[frontierapi.Reasons], error) {
	return ask(ctx, c.ofCrawl(in.Crawl), func(ctx context.Context, bus *stages.Bus) (frontierapi.Reasons, error) {
		return frontierapi.Client{Bus: bus}.Reasons(ctx, in.Crawl)
	})
}

// ofCrawl is Cluster.Do for an existing crawl.
func (a *API) ofCrawl(crawl string) looker { return known(crawl, a.Cluster.Do) }

// lookAtCrawl is Cluster.Look for an existing crawl.
func (a *API) lookAtCrawl(crawl string) looker { return known(crawl, a.Cluster.Look) }

// known returns look with a check that the crawl exists.
func known(crawl string, look looker) looker {
	return func(ctx context.Context, do func(context.Context, *stages.Bus) error) error {
		return look(ctx, func(ctx context.Context, bus *stages.Bus) error {
			if err := lookup.Crawl(ctx, bus, crawl); err != nil {
				return err
			}
			return do(ctx, bus)
		})
	}
}

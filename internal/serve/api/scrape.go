package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"seine/internal/serve/caller"
	"seine/internal/serve/scrape"
	"seine/pkg/crawlspec"
	"seine/pkg/stages"
	"seine/pkg/stages/frontier/frontierapi"
)

// pageOperations are the operations on single pages.
type pageOperations struct{ *API }

// Ask is the request for a page.
type Ask struct {
	URL string `json:"url" minLength:"1" maxLength:"8192" example:"https://example.org/"`
	SpecChoice
}

// SpecChoice selects the spec for a request.
type SpecChoice struct {
	Spec  raw    `json:"spec,omitempty" doc:"A string of YAML, or an object: whose rules, access and pace hold. The default without it."`
	Crawl string `json:"crawl,omitempty" maxLength:"64" doc:"Instead of a spec: that of this crawl."`
}

// Resolve implements huma.Resolver.
func (q *SpecChoice) Resolve(huma.Context) []error { return checkAnyCrawl(q.Crawl, "body.crawl") }

// PageAsk is the request for a page and its parts.
type PageAsk struct {
	Ask
	scrape.Parts
}

// MapAsk is the request for a map.
type MapAsk struct {
	Ask
	Limit  int    `json:"limit,omitempty" minimum:"1" maximum:"50000" default:"5000" doc:"At most so many URLs."`
	Cursor string `json:"cursor,omitempty" maxLength:"4096" doc:"next of the part before, with a crawl."`
}

func (p pageOperations) registerScrape() {
	register(p.API, operation{
		method: http.MethodPost, path: "/scrape", id: "scrape", tag: "pages", scope: caller.Scrape, harmless: true, body: maxSpec, bulk: true, errors: []int{404, 502}, time: 2 * time.Minute,
		summary: "One page", about: "Fetched as in a crawl: robots.txt, address checks and the host's delay apply, over all callers. Returns the records of the spec's rules, links, Markdown and metadata.",
	}, func(ctx context.Context, in *struct{ Body PageAsk }) (*body[*scrape.Page], error) {
		spec, err := p.specFor(ctx, &in.Body.SpecChoice)
		if err != nil {
			return nil, err
		}
		return answerOf(p.Scraper.Fetch(ctx, spec, in.Body.URL, &in.Body.Parts))
	})
	register(p.API, operation{
		method: http.MethodPost, path: "/scrape/batch", id: "scrape-batch", tag: "pages", scope: caller.Scrape, harmless: true, body: maxSpec, bulk: true, errors: []int{404}, time: batchTime,
		summary: "Several pages", about: "Each as in POST /scrape, hosts in parallel, the pages of a host one after another. Pages that take over four minutes become problems.",
	}, p.scrapeBatch)
	register(p.API, operation{
		method: http.MethodPost, path: "/map", id: "map", tag: "pages", scope: caller.Scrape, harmless: true, body: maxSpec, bulk: true, errors: []int{404, 502}, time: 2 * time.Minute,
		summary: "The URLs of a site", about: "From the links of one page and up to 10 sitemaps of its host. With a crawl (needs the scope `read` too), also the URLs that it knows on the host, in parts, in the order of a hash.",
	}, func(ctx context.Context, in *struct{ Body MapAsk }) (*body[*scrape.Map], error) {
		if in.Body.Crawl != "" {
			return answerOf(p.mapKnown(ctx, &in.Body))
		}
		if in.Body.Cursor != "" {
			return nil, problemf(http.StatusUnprocessableEntity, "cursor: only what a crawl knows has parts: give crawl, or a larger limit")
		}
		spec, err := p.specFor(ctx, &in.Body.SpecChoice)
		if err != nil {
			return nil, err
		}
		return answerOf(p.Scraper.Map(ctx, spec, in.Body.URL, in.Body.Limit))
	})
}

const (
	batchTime = 4 * time.Minute
	// maxBatch bounds the texts of a batch in bytes, because all are in memory.
	maxBatch = 64 << 20
)

// BatchAsk is the request for several pages.
type BatchAsk struct {
	URLs []string `json:"urls" minItems:"1" maxItems:"100"`
	SpecChoice
	scrape.Parts
}

// Batch has a result for each URL, in the same order.
type Batch struct {
	Results []BatchResult `json:"results" nullable:"false"`
}

// BatchResult is a page or a problem.
type BatchResult struct {
	URL     string       `json:"url"`
	Page    *scrape.Page `json:"page,omitempty"`
	Problem *Problem     `json:"problem,omitempty"`
}

func (p pageOperations) scrapeBatch(ctx context.Context, in *struct{ Body BatchAsk }) (*body[Batch], error) {
	spec, err := p.specFor(ctx, &in.Body.SpecChoice)
	if err != nil {
		return nil, err
	}
	out, bytes := Batch{Results: make([]BatchResult, len(in.Body.URLs))}, 0
	ctx, cancel := context.WithTimeout(ctx, batchTime-askTime)
	defer cancel()
	p.Scraper.FetchAll(ctx, spec, in.Body.URLs, &in.Body.Parts, func(i int, page *scrape.Page, err error) {
		r := &out.Results[i]
		if r.URL = in.Body.URLs[i]; err == nil {
			if bytes += page.Size(); bytes > maxBatch {
				err = problemf(http.StatusRequestEntityTooLarge, "the pages of this batch have more than 64 MiB: ask for fewer pages, or set formats and limit")
			}
		}
		if err == nil {
			r.Page = page
		} else {
			r.Problem = problemIn(p.problemOf(err))
		}
	})
	return answerOf(out, nil)
}

// mapKnown maps a site with the URLs that a crawl knows.
func (p pageOperations) mapKnown(ctx context.Context, q *MapAsk) (*scrape.Map, error) {
	if c := caller.Of(ctx); !c.May(caller.Read) {
		return nil, problemf(http.StatusForbidden, "%s", lacks(&c, caller.Read))
	}
	if q.Cursor != "" && !isURLHash(q.Cursor) {
		return nil, badCursor()
	}
	spec, err := p.specFor(ctx, &q.SpecChoice)
	if err != nil {
		return nil, err
	}
	return p.Scraper.MapKnown(ctx, spec, q.URL, q.Cursor, q.Limit, func(ctx context.Context, host, after string, most int) (part frontierapi.KnownPage, err error) {
		err = p.Cluster.Do(ctx, func(ctx context.Context, bus *stages.Bus) (err error) {
			part, err = frontierapi.Client{Bus: bus}.KnownPage(ctx, q.Crawl, host, after, most)
			return err
		})
		return part, err
	})
}

// specFor returns the selected spec, if the caller may use it.
func (p pageOperations) specFor(ctx context.Context, q *SpecChoice) (spec *crawlspec.Spec, err error) {
	switch {
	case q.Crawl != "" && len(q.Spec) > 0:
		return nil, problemf(http.StatusUnprocessableEntity, "give either spec or crawl: a page is fetched by one spec")
	case q.Crawl != "":
		err = p.ofCrawl(q.Crawl)(ctx, func(ctx context.Context, bus *stages.Bus) error {
			have, err := stages.SpecOf(ctx, bus, q.Crawl)
			spec = have.Spec
			return err
		})
	default:
		text := specText(q.Spec)
		if spec, err = readSpec(text); err == nil && len(text) == 0 {
			spec.AllowPrivate = p.AllowPrivate
		}
	}
	if err != nil {
		return nil, err
	}
	return spec, p.checkRights(ctx, spec)
}

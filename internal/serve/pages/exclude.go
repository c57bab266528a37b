package pages

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"seine/internal/serve/api"
	"seine/internal/serve/caller"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/frontier/frontierapi"
)

// excludePage is a pattern to exclude with the URLs that it would drop.
type excludePage struct {
	Crawl, Pattern string
	Rev            uint64   // of the spec that the pattern is added to
	Have           []string // existing patterns
	Refused        string
	frontierapi.Dropped
	Estimate int64 // estimated number of queued URLs to drop, from a sample
}

func (p excludePage) title() string { return "Exclude URLs of crawl " + p.Crawl }

func (sp specPages) exclude(r *http.Request) (any, error) { return sp.excludePage(r) }

// excludePage evaluates the pattern of a request.
func (sp specPages) excludePage(r *http.Request) (*excludePage, error) {
	p := &excludePage{Crawl: r.PathValue("crawl"), Pattern: strings.TrimSpace(r.FormValue("pattern"))}
	c, err := sp.findCrawl(r, p.Crawl)
	if err == nil {
		err = allowed(r, caller.Write)
	}
	if err != nil {
		return nil, err
	}
	rev, err := sp.specNow(r, p.Crawl)
	if err != nil {
		return nil, err
	}
	p.Rev, p.Have = rev.Rev, rev.Spec.Exclude
	if p.Pattern == "" {
		return p, nil
	}
	if _, err := crawlspec.CompilePattern(p.Pattern); err != nil {
		p.Refused = err.Error()
		return p, nil
	}
	p.Dropped, err = asked(r.Context(), sp.server, "drop "+p.Crawl+" "+p.Pattern, fresh, func(ctx context.Context, bus *stages.Bus) (frontierapi.Dropped, error) {
		return frontierapi.Client{Bus: bus}.WouldDrop(ctx, p.Crawl, p.Pattern)
	})
	if p.Waiting > 0 {
		p.Estimate = int64(float64(p.URLs) / float64(p.Waiting) * float64(c.Queued+c.Waiting))
	}
	return p, err
}

// specNow returns the stored spec of a crawl.
func (sp specPages) specNow(r *http.Request, crawl string) (rev crawlspec.Revision, err error) {
	err = sp.Cluster.Do(r.Context(), func(ctx context.Context, bus *stages.Bus) error {
		rev, err = stages.SpecOf(ctx, bus, crawl)
		return err
	})
	return rev, err
}

// storeExclusion handles POST /crawls/{crawl}/exclude: it adds a pattern to the spec. It fails if
// the spec has changed since the pattern was evaluated.
func (sp specPages) storeExclusion(w http.ResponseWriter, r *http.Request) {
	crawl, pattern := r.PathValue("crawl"), strings.TrimSpace(r.FormValue("pattern"))
	if err := messages.CheckCrawl(crawl); err != nil {
		sp.failed(w, r, badInput{err})
		return
	}
	err := sp.addExclusion(r, crawl, pattern)
	if err == nil {
		sp.done(w, r, "/crawls/"+crawl, fmt.Sprintf("Crawl %s excludes %s now.", crawl, pattern))
		return
	}
	p, readErr := sp.excludePage(r)
	if readErr != nil {
		sp.failed(w, r, readErr)
		return
	}
	p.Refused = err.Error()
	sp.render(w, r, statusOf(err), "exclude", p.title(), p)
}

func (sp specPages) addExclusion(r *http.Request, crawl, pattern string) error {
	if _, err := crawlspec.CompilePattern(pattern); err != nil {
		return badInput{err}
	}
	rev, err := sp.specNow(r, crawl)
	if err != nil {
		return err
	}
	spec := *rev.Spec
	spec.Exclude = append(spec.Exclude[:len(spec.Exclude):len(spec.Exclude)], pattern)
	var change api.SpecChange
	return sp.carryOut(r, http.MethodPut, "/crawls/"+url.PathEscape(crawl)+"/spec", bytes.TrimSpace(spec.Encode()), "application/yaml", &change, "If-Match", strconv.Quote(r.FormValue("rev")))
}

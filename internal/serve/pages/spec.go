package pages

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"seine/internal/run/specchange"
	"seine/internal/run/specfile"
	"seine/internal/serve/api"
	"seine/internal/serve/caller"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// specPages are the pages about the spec of a crawl.
type specPages struct{ *server }

// specPage shows the spec of a crawl, to read, to change, and to roll back.
type specPage struct {
	Crawl     string
	Revision  crawlspec.Revision // in effect
	Text      string             // in the form
	May       bool               // the reader may change it
	Refused   string
	Checked   *api.SpecCheck
	Changes   []string // changes that the text would make
	Compared  bool     // Changes are known
	Revisions []stages.SpecRevision
	TryURL    string
	Trial     *trialOfSpec // result of TryURL
	With      uint64       // revision that Changes compare with, 0 for none
}

func (p specPage) title() string { return "Spec of crawl " + p.Crawl }

func (sp specPages) spec(r *http.Request) (any, error) {
	p, err := sp.specPage(r)
	if err != nil {
		return nil, err
	}
	if text := r.FormValue("with"); text != "" {
		return p, p.compare(text)
	}
	return p, nil
}

// specPage returns the page with the stored spec in the form.
func (sp specPages) specPage(r *http.Request) (*specPage, error) {
	p := &specPage{Crawl: r.PathValue("crawl"), May: !sp.ReadOnly && allowed(r, caller.Write) == nil}
	if err := messages.CheckCrawl(p.Crawl); err != nil {
		return nil, badInput{err}
	}
	if _, err := sp.findCrawl(r, p.Crawl); err != nil {
		return nil, err
	}
	err := sp.Cluster.Do(r.Context(), func(ctx context.Context, bus *stages.Bus) error {
		specs, err := stages.OpenSpecs(ctx, bus)
		if err != nil {
			return err
		}
		if p.Revision, err = specs.Get(ctx, p.Crawl, 0); err == nil {
			p.Revisions, err = specs.History.Revisions(ctx, p.Crawl)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if allowed(r, caller.Write) != nil {
		p.Revision.Spec = p.Revision.Spec.Shown()
		for i := range p.Revisions {
			if p.Revisions[i].Spec != nil {
				p.Revisions[i].Spec = p.Revisions[i].Spec.Shown()
			}
		}
	}
	text, err := specfile.TextWithoutDefaults(p.Revision.Spec)
	p.Text = string(text)
	return p, err
}

// compare shows the changes since a revision.
func (p *specPage) compare(with string) error {
	rev, err := strconv.ParseUint(with, 10, 64)
	if err != nil {
		return badInput{fmt.Errorf("with %q: must be the number of a revision", with)}
	}
	for _, r := range p.Revisions {
		if r.Rev == rev && r.Spec != nil {
			p.With, p.Compared, p.Changes = rev, true, specchange.Lines(r.Spec, p.Revision.Spec)
			return nil
		}
	}
	return notThere{fmt.Errorf("crawl %s has no spec of revision %d any more", p.Crawl, rev)}
}

// checkSpec handles POST /crawls/{crawl}/spec/check: it shows the problems of a text and the
// changes that it would make.
func (sp specPages) checkSpec(w http.ResponseWriter, r *http.Request) {
	p, err := sp.specPage(r)
	if err != nil {
		sp.failed(w, r, err)
		return
	}
	p.Text = plainLines(r.FormValue("text"))
	sp.render(w, r, sp.checked(r, p), "spec", p.title(), p)
}

// checked sets the problems of the form's text, and returns the HTTP status.
func (sp specPages) checked(r *http.Request, p *specPage) int {
	p.Checked = new(api.SpecCheck)
	if err := sp.carryOut(r, http.MethodPost, "/specs/check", []byte(p.Text), "application/yaml", p.Checked); err != nil {
		p.Checked, p.Refused = nil, err.Error()
		return statusOf(err)
	}
	if !p.Checked.OK {
		return http.StatusUnprocessableEntity
	}
	var change api.SpecChange
	err := sp.carryOut(r, http.MethodPost, "/crawls/"+url.PathEscape(p.Crawl)+"/spec/diff", []byte(p.Text), "application/yaml", &change)
	if err != nil {
		p.Refused = err.Error()
		return statusOf(err)
	}
	p.Compared, p.Changes = true, change.Changes
	return http.StatusOK
}

// storeSpec handles POST /crawls/{crawl}/spec. It fails if the spec has changed since the form was
// rendered.
func (sp specPages) storeSpec(w http.ResponseWriter, r *http.Request) {
	crawl, text := r.PathValue("crawl"), plainLines(r.FormValue("text"))
	var change api.SpecChange
	err := sp.carryOut(r, http.MethodPut, "/crawls/"+url.PathEscape(crawl)+"/spec", []byte(text), "application/yaml", &change, "If-Match", strconv.Quote(r.FormValue("rev")))
	if err == nil {
		sp.done(w, r, "/crawls/"+crawl+"/spec", fmt.Sprintf("Revision %d of the spec is in effect.", change.Revision))
		return
	}
	p, readErr := sp.specPage(r)
	if readErr != nil {
		sp.failed(w, r, readErr)
		return
	}
	p.Text = text
	if sp.checked(r, p); p.Checked == nil || p.Checked.OK {
		p.Refused = err.Error()
	}
	sp.render(w, r, statusOf(err), "spec", p.title(), p)
}

// rollback handles POST /crawls/{crawl}/spec/rollback.
func (sp specPages) rollback(r *http.Request) (to, said string, err error) {
	crawl := r.PathValue("crawl")
	rev, err := strconv.ParseUint(r.FormValue("rev"), 10, 64)
	if err != nil {
		return "", "", badInput{fmt.Errorf("revision %q: must be a number", r.FormValue("rev"))}
	}
	var change api.SpecChange
	err = sp.carryOutJSON(r, http.MethodPost, "/crawls/"+url.PathEscape(crawl)+"/spec/rollback", map[string]any{"revision": rev}, &change)
	return "/crawls/" + crawl + "/spec", fmt.Sprintf("Revision %d of the spec is restored, as revision %d.", rev, change.Revision), err
}

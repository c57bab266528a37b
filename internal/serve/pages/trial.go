package pages

import (
	"net/http"
	"strings"

	"seine/internal/base/truncate"
	"seine/internal/serve/scrape"
)

// trialOfSpec is the result of a spec on one page.
type trialOfSpec struct {
	*scrape.Page
	Shown []string // records as indented JSON
}

// maxTrial bounds the shown part of a record and of the Markdown, in bytes; maxLinks bounds the
// links.
const (
	maxTrial = 32 << 10
	maxLinks = 100
)

// try handles POST /crawls/{crawl}/spec/try: it applies the text of the form to a URL without
// storing anything. The page is fetched as in a crawl.
func (sp specPages) try(w http.ResponseWriter, r *http.Request) {
	p, err := sp.specPage(r)
	if err != nil {
		sp.failed(w, r, err)
		return
	}
	p.Text, p.TryURL = plainLines(r.FormValue("text")), strings.TrimSpace(r.FormValue("url"))
	status := sp.checked(r, p)
	if p.Checked != nil && p.Checked.OK {
		if p.Trial, err = sp.tryPage(r, p.TryURL, p.Text); err != nil {
			p.Refused, status = err.Error(), statusOf(err)
		}
	}
	sp.render(w, r, status, "spec", p.title(), p)
}

// tryPage fetches a page with a spec, as in a crawl.
func (s *server) tryPage(r *http.Request, url, spec string) (*trialOfSpec, error) {
	found := new(scrape.Page)
	if err := s.carryOutJSON(r, http.MethodPost, "/scrape", map[string]string{"url": url, "spec": spec}, found); err != nil {
		return nil, err
	}
	return tried(found), nil
}

// tried truncates the result of a trial for display.
func tried(found *scrape.Page) *trialOfSpec {
	t := &trialOfSpec{Page: found}
	for _, raw := range found.Records {
		t.Shown = append(t.Shown, pretty(raw, maxTrial))
	}
	found.Links = found.Links[:min(len(found.Links), maxLinks)]
	if found.Markdown != nil {
		*found.Markdown = truncate.To(*found.Markdown, maxTrial)
	}
	return t
}

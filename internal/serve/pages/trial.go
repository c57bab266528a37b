package pages

import (
	"net/http"
	"strings"

	"seine/internal/base/truncate"
	"seine/internal/serve/scrape"
)

// trialOfSpec is what a spec makes of one page.
type trialOfSpec struct {
	*scrape.Page
	Shown []string // records as JSON, indented
}

// maxTrial bounds what is shown of one record and of the Markdown, in bytes; maxLinks how many links are.
const (
	maxTrial = 32 << 10
	maxLinks = 100
)

// try is POST /crawls/{crawl}/spec/try: the text of the form is tried on a URL, and nothing is stored. The page is
// fetched as a crawl would.
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

// tryPage fetches a page as a crawl by a spec would.
func (s *server) tryPage(r *http.Request, url, spec string) (*trialOfSpec, error) {
	found := new(scrape.Page)
	if err := s.carryOutJSON(r, http.MethodPost, "/scrape", map[string]string{"url": url, "spec": spec}, found); err != nil {
		return nil, err
	}
	return tried(found), nil
}

// tried is what came of a trial, as far as it is shown.
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

package pages

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"seine/internal/serve/caller"
	"seine/internal/serve/figures"
)

// spanOf returns the requested period of charts.
func spanOf(r *http.Request) (figures.Span, error) {
	switch span := figures.Span(r.FormValue("span")); span {
	case "", figures.Hour:
		return figures.Hour, nil
	case figures.Day:
		return span, nil
	default:
		return "", badInput{fmt.Errorf("span %q: must be %s or %s", span, figures.Hour, figures.Day)}
	}
}

// chart returns the data of a chart: /figures?crawl=NAME&span=hour|day.
func (s *server) chart(w http.ResponseWriter, r *http.Request) {
	if err := allowed(r, caller.Read); err != nil {
		http.Error(w, err.Error(), http.StatusForbidden)
		return
	}
	span, err := spanOf(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(s.Figures.Chart(r.FormValue("crawl"), span, time.Now())) // the client may be gone
}

// Charts are the charts of a page.
type Charts struct {
	Crawl string
	Span  figures.Span
	figures.Summary
}

func (s *server) chartsOf(r *http.Request, crawl string) (Charts, error) {
	span, err := spanOf(r)
	return Charts{crawl, span, s.Figures.Chart(crawl, span, time.Now()).Summarize()}, err
}

package pages

import (
	"context"
	"net/http"
	"strings"
	"time"

	"seine/internal/ops/history"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// explainPage is the history of a URL.
type explainPage struct {
	Crawl, URL string
	Names      []string
	*history.History
	// Rows are the output of `seine explain`.
	Rows []history.Row
}

// explainWithin is how far from the known times of visits messages are searched.
const explainWithin = time.Minute

func (up urlPages) explain(r *http.Request) (any, error) {
	p := explainPage{Crawl: r.FormValue("crawl"), URL: strings.TrimSpace(r.FormValue("url")), Names: up.crawlNames(r)}
	if p.Crawl == "" {
		p.Crawl = messages.DefaultCrawl
		if len(p.Names) == 1 {
			p.Crawl = p.Names[0]
		}
	}
	if p.URL == "" {
		return p, nil
	}
	if err := messages.CheckCrawl(p.Crawl); err != nil {
		return nil, badInput{err}
	}
	var err error
	p.History, err = asked(r.Context(), up.server, "explain "+p.Crawl+" "+p.URL, fresh, func(ctx context.Context, bus *stages.Bus) (*history.History, error) {
		return history.Find(ctx, bus, history.Options{Crawl: p.Crawl, URL: p.URL, Within: explainWithin})
	})
	if err != nil {
		return nil, err
	}
	p.Rows = p.History.Rows()
	return p, nil
}

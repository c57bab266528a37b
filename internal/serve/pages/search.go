package pages

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"seine/internal/ops/history"
	"seine/internal/ops/lookup"
	"seine/internal/ops/overview"
	"seine/pkg/stages"
	"seine/pkg/stages/frontier/frontierapi"
)

// searchPage is the result of a search: crawls, hosts and URLs.
type searchPage struct {
	Text   string
	Crawls []overview.Crawl
	Hosts  []string
	URLs   []history.SimilarURL
}

// redirectTo is an address to redirect to.
type redirectTo string

func (up urlPages) search(r *http.Request) (any, error) {
	p := searchPage{Text: strings.TrimSpace(r.FormValue("q"))}
	look, text := up.look(r.Context()).Overview, strings.ToLower(p.Text)
	if text == "" || look == nil {
		return p, nil
	}
	for _, c := range byActivity(look.Crawls, look.At) {
		if strings.Contains(c.Name, text) && len(p.Crawls) < perPage {
			p.Crawls = append(p.Crawls, c)
		}
	}
	names := up.crawlNames(r)
	rest, err := asked(r.Context(), up.server, "search "+p.Text, fresh, func(ctx context.Context, bus *stages.Bus) (rest searchPage, err error) {
		client := frontierapi.Client{Bus: bus}
		if rest.Hosts, err = hostsLike(ctx, client, text); err == nil {
			rest.URLs = urlsLike(ctx, client, names, p.Text)
		}
		return rest, err
	})
	p.Hosts, p.URLs = rest.Hosts, rest.URLs
	if err == nil && len(p.Crawls)+len(p.Hosts)+len(p.URLs) == 1 {
		return up.only(&p), nil
	}
	return p, err
}

// only returns the address of the single result.
func (up urlPages) only(p *searchPage) redirectTo {
	switch {
	case len(p.Crawls) > 0:
		return redirectTo(up.link("/crawls/" + p.Crawls[0].Name))
	case len(p.Hosts) > 0:
		return redirectTo(up.link("/hosts/" + url.PathEscape(p.Hosts[0])))
	}
	return redirectTo(up.link("/explain", "crawl", p.URLs[0].Crawl, "url", p.URLs[0].URL))
}

// hostsLike returns the hosts with work whose names contain a text, or else the host of that name.
func hostsLike(ctx context.Context, client frontierapi.Client, text string) (names []string, err error) {
	survey, err := client.Survey(ctx, "", surveyed)
	if err != nil {
		return nil, err
	}
	for _, h := range distinctHosts(survey) {
		if strings.Contains(h.Host, text) && len(names) < perPage {
			names = append(names, h.Host)
		}
	}
	if len(names) == 0 && !strings.Contains(text, "/") {
		if h, err := lookup.Host(ctx, client, text); err == nil {
			names = append(names, h.Host)
		}
	}
	return names, nil
}

// urlsLike returns the crawls that know the URL in a text, which may lack its scheme.
func urlsLike(ctx context.Context, client frontierapi.Client, crawls []string, text string) (all []history.SimilarURL) {
	if !strings.ContainsAny(text, "./:") {
		return nil
	}
	candidates := []string{text}
	if !isWeb(text) {
		candidates = []string{"https://" + text, "http://" + text}
	}
	for _, crawl := range crawls[:min(len(crawls), history.MaxCrawls)] {
		for _, u := range candidates {
			all, _ = history.AppendKnown(ctx, client, all, crawl, u) // the text may not be a URL
		}
	}
	return all
}

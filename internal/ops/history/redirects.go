package history

import (
	"context"
	"slices"
	"strings"

	"seine/internal/base/weburl"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/frontier/frontierapi"
)

// maxHops bounds the length of a chain of redirects, in each direction.
const maxHops = 10

// redirects follows the chains that contain the URL.
func (f *finder) redirects() error {
	back := f.Explanation
	for seen := 0; back.Redirects > 0 && back.Referrer != "" && seen < maxHops; seen++ {
		e, err := f.client.Explain(f.ctx, f.Crawl, back.Referrer)
		if err != nil {
			return err
		}
		f.From = append([]Hop{hop(&e)}, f.From...)
		back = e
	}
	for at := f; len(f.To) < maxHops; {
		next := at.leadsTo()
		if next == "" {
			return nil
		}
		var err error
		if at, err = f.follow(next); err != nil {
			return err
		}
		to := hop(&at.Explanation)
		to.Loop = to.URL == f.URL || slices.ContainsFunc(f.To, func(h Hop) bool { return h.URL == to.URL })
		if f.To = append(f.To, to); to.Loop {
			return nil
		}
	}
	return nil
}

// leadsTo returns the target if the last result is a redirect, otherwise "".
func (f *finder) leadsTo() string {
	if f.Class != messages.Redirect || len(f.Results) == 0 {
		return ""
	}
	return f.Results[len(f.Results)-1].Location
}

// follow finds the results of another URL of the crawl.
func (f *finder) follow(url string) (*finder, error) {
	next := &finder{ctx: f.ctx, bus: f.bus, client: f.client, q: f.q}
	next.Crawl = f.Crawl
	var err error
	if next.Explanation, err = f.client.Explain(f.ctx, f.Crawl, url); err != nil || !next.Known {
		return next, err
	}
	next.locate()
	return next, next.results()
}

func hop(e *frontierapi.Explanation) Hop {
	return Hop{URL: e.URL, State: e.State, Class: e.Class, Status: e.Status}
}

// near searches other crawls for the URL, and this crawl for similar URLs.
func (f *finder) near() error {
	crawls, err := f.crawls()
	if err != nil {
		return err
	}
	for _, crawl := range crawls {
		if err := f.tryNear(crawl, f.Canonical); err != nil {
			return err
		}
	}
	for _, url := range variants(f.Canonical) {
		if err := f.tryNear(f.Crawl, url); err != nil {
			return err
		}
	}
	return nil
}

func (f *finder) tryNear(crawl, url string) (err error) {
	f.Near, err = AppendKnown(f.ctx, f.client, f.Near, crawl, url)
	return err
}

// AppendKnown appends a URL to all if the crawl knows it and all does not contain it.
func AppendKnown(ctx context.Context, client frontierapi.Client, all []SimilarURL, crawl, url string) ([]SimilarURL, error) {
	e, err := client.Explain(ctx, crawl, url)
	known := func(n SimilarURL) bool { return n.Crawl == crawl && n.URL == e.URL }
	if err != nil || !e.Known || slices.ContainsFunc(all, known) {
		return all, err
	}
	return append(all, SimilarURL{Crawl: crawl, URL: e.URL, State: e.State, Reason: e.Reason}), nil
}

// MaxCrawls bounds the crawls that are queried for a URL.
const MaxCrawls = 100

// crawls returns the other crawls: those with a spec, and those that recently found URLs of the
// partition.
func (f *finder) crawls() ([]string, error) {
	names, err := f.bus.Keys(f.ctx, messages.BucketCrawls)
	if err != nil {
		return nil, err
	}
	state, err := stages.Subjects(f.ctx, f.bus, messages.StreamURLs, messages.SubjectAny("*", f.Partition))
	for subject := range state.Subjects {
		names = append(names, messages.CrawlOf(subject))
	}
	return others(names, f.Crawl), err
}

// others returns the names of crawls in names, except one. Keys of deletions are dropped.
func others(names []string, but string) []string {
	slices.Sort(names)
	names = slices.DeleteFunc(slices.Compact(names), func(name string) bool {
		return name == but || messages.CheckCrawl(name) != nil
	})
	return names[:min(len(names), MaxCrawls)]
}

// variants returns common mistakes for a URL: the other scheme, with or without www, with or
// without a trailing slash, in lower case, without the query, localhost instead of its address.
func variants(canonical string) []string {
	scheme, rest, _ := strings.Cut(canonical, "://")
	other := map[string]string{"http": "https", "https": "http"}[scheme]
	host, path, _ := strings.Cut(rest, "/")
	path, query, hasQuery := strings.Cut("/"+path, "?")
	if hasQuery {
		query = "?" + query
	}
	www := "www." + host
	if bare, ok := strings.CutPrefix(host, "www."); ok {
		www = bare
	}
	slash := path + "/"
	if bare, ok := strings.CutSuffix(path, "/"); ok {
		slash = bare
	}
	local := map[string]string{"localhost": "127.0.0.1", "127.0.0.1": "localhost"}[weburl.Hostname(canonical)]
	if _, port, has := strings.Cut(host, ":"); has && local != "" {
		local += ":" + port
	}
	var all []string
	for _, v := range []string{
		scheme + "://" + host + slash + query, other + "://" + rest, scheme + "://" + www + path + query,
		other + "://" + www + path + query, scheme + "://" + host + path, strings.ToLower(canonical), scheme + "://" + local + path + query,
	} {
		if c, err := weburl.Canonicalize(v); err == nil && c != canonical && !slices.Contains(all, c) {
			all = append(all, c)
		}
	}
	return all
}

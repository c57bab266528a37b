package scrape

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"seine/internal/base/weburl"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages/fetcher"
	"seine/pkg/stages/frontier/frontierapi"
)

// Known returns a page of the URLs of a host that a crawl knows, like frontierapi.Client.KnownPage.
type Known func(ctx context.Context, host, after string, most int) (frontierapi.KnownPage, error)

// site is the map of a site.
type site struct {
	Map
	host  string
	until time.Time // end of its life in the cache
}

// Sites are cached for requests for their next page.
const (
	keepSite = 5 * time.Minute
	maxSites = 4
)

// lookFor bounds the queries to the crawl for one page.
const lookFor = 5 * time.Second

// MapKnown merges the map of a site with the URLs that a crawl knows, without duplicates, in the
// order of their hashes. It returns up to most URLs after the hash after; "" for the first page. If
// the site cannot be fetched, that is one of the problems, except for refused addresses, which are
// an error.
func (s *Scraper) MapKnown(ctx context.Context, spec *crawlspec.Spec, url, after string, most int, known Known) (*Map, error) {
	have, err := s.site(ctx, spec, url, after != "")
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*lookFor)
	defer cancel()
	of, until, err := ask(ctx, known, have.host, after, most)
	if err != nil {
		return nil, err
	}
	out := have.Map
	out.URLs, out.Next = join(have.URLs, of, after, until, most)
	return &out, nil
}

// site maps a site. again permits a cached map, so that the pages of a map need not request it each
// time.
func (s *Scraper) site(ctx context.Context, spec *crawlspec.Spec, url string, again bool) (*site, error) {
	key := url + "\n" + string(spec.Encode())
	if have, ok := s.sites.Get(key); ok && again && time.Now().Before(have.until) {
		return have, nil
	}
	m, err := s.Map(ctx, spec, url, MaxURLs)
	if failed, ok := errors.AsType[*fetcher.FetchError](err); ok && failed.Class != messages.RefusedAddress {
		canonical, err := weburl.Canonicalize(url)
		return &site{Map: Map{URLs: []Found{}, Sitemaps: []string{}, Problems: []string{failed.Error()}}, host: weburl.Host(canonical)}, err
	}
	if err != nil {
		return nil, err
	}
	have := &site{Map: *m, host: weburl.Host(m.URLs[0].URL), until: time.Now().Add(keepSite)}
	s.sites.Put(key, have)
	return have, nil
}

// ask returns known URLs after a hash, and the hash up to which they are complete, "" for the end.
func ask(ctx context.Context, known Known, host, after string, most int) (of []frontierapi.KnownURL, until string, err error) {
	until = after
	for began := time.Now(); len(of) < most && time.Since(began) < lookFor; {
		part, err := known(ctx, host, until, most-len(of))
		if err != nil {
			return nil, "", err
		}
		of = append(of, part.URLs...)
		if until = part.Next; until == "" {
			break
		}
	}
	return of, until, nil
}

// join merges both lists between two hashes, in order, and returns the hash where the next page
// begins.
func join(read []Found, known []frontierapi.KnownURL, after, until string, most int) (all []Found, next string) {
	states := make(map[string]string, len(known))
	for _, u := range known {
		states[u.URL] = u.State
	}
	type hashed struct {
		Found
		hash string
	}
	var both []hashed
	for _, f := range read {
		if hash := messages.HashURL(f.URL).String(); hash > after && (until == "" || hash <= until) {
			f.State = states[f.URL]
			delete(states, f.URL)
			both = append(both, hashed{f, hash})
		}
	}
	for url, state := range states {
		both = append(both, hashed{Found{URL: url, Source: "frontier", State: state}, messages.HashURL(url).String()})
	}
	slices.SortFunc(both, func(a, b hashed) int { return cmp.Compare(a.hash, b.hash) })
	if next = until; len(both) > most {
		both = both[:most]
		next = both[most-1].hash
	}
	all = []Found{}
	for i := range both {
		all = append(all, both[i].Found)
	}
	return all, next
}

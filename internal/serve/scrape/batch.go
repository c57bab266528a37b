package scrape

import (
	"context"
	"errors"
	"time"

	"seine/internal/base/panics"
	"seine/internal/base/sleep"
	"seine/internal/base/weburl"
	"seine/pkg/crawlspec"
)

// busyPoll is the wait before another attempt at a busy host.
const busyPoll = time.Second

// FetchAll fetches pages like Fetch, those of one host one after the other. It calls done for each,
// not concurrently, with the index of the URL and the page or its error. When ctx is done, its
// error is that of the remaining pages.
func (s *Scraper) FetchAll(ctx context.Context, spec *crawlspec.Spec, urls []string, parts *Parts, done func(i int, page *Page, err error)) {
	type result struct {
		i    int
		page *Page
		err  error
	}
	byHost := make(map[string][]int)
	for i, url := range urls {
		byHost[weburl.Host(url)] = append(byHost[weburl.Host(url)], i)
	}
	results := make(chan result)
	for _, of := range byHost {
		go func() {
			for _, i := range of {
				page, err := panics.Catch(func() (*Page, error) { return s.fetchPatiently(ctx, spec, urls[i], parts) })
				results <- result{i, page, err}
			}
		}()
	}
	for range urls {
		r := <-results
		done(r.i, r.page, r.err)
	}
}

// fetchPatiently waits as long as necessary for the host of a URL.
func (s *Scraper) fetchPatiently(ctx context.Context, spec *crawlspec.Spec, url string, parts *Parts) (*Page, error) {
	for {
		page, err := s.Fetch(ctx, spec, url, parts)
		if !errors.Is(err, ErrBusy) {
			return page, err
		}
		if sleep.For(ctx, busyPoll) != nil {
			return nil, err
		}
	}
}

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

// busyPoll is the wait before a host is asked again whose turn others have.
const busyPoll = time.Second

// FetchAll fetches pages as Fetch does, those of one host one after the other, and calls done with each, one at a time:
// with the number of its URL, and the page or why there is none. When ctx ends, its error is that of the pages left.
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

// fetchPatiently waits as long as it takes until the host of a URL has rested.
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

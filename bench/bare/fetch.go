package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const maxRedirects = 10

// totals sums up what was read; safe for concurrent use.
type totals struct {
	pages, titles, links, bytes atomic.Int64
}

func (t *totals) String() string {
	return fmt.Sprintf("pages=%d titles=%d links=%d bytes=%d",
		t.pages.Load(), t.titles.Load(), t.links.Load(), t.bytes.Load())
}

func (t *totals) add(p *page) {
	t.pages.Add(1)
	t.links.Add(int64(len(p.links)))
	t.bytes.Add(p.bytes)
	if p.title != "" {
		t.titles.Add(1)
	}
}

// newClient keeps as many connections alive as there are workers and asks for no compression.
func newClient(workers int) *http.Client {
	return &http.Client{
		Timeout: time.Minute,
		Transport: &http.Transport{
			MaxIdleConnsPerHost: workers,
			DisableCompression:  true,
		},
		CheckRedirect: func(_ *http.Request, via []*http.Request) error {
			if len(via) >= maxRedirects {
				return http.ErrUseLastResponse // a loop is an answer like others
			}
			return nil
		},
	}
}

// fetchList fetches every URL of a file.
func fetchList(ctx context.Context, name string, workers int, t *totals) error {
	data, err := os.ReadFile(name) //nolint:gosec // the file is the argument
	if err != nil {
		return fmt.Errorf("read list: %w", err)
	}
	return fetchAll(ctx, strings.Fields(string(data)), workers, func(ctx context.Context, c *http.Client, u string) error {
		p, err := get(ctx, c, u)
		if err != nil {
			return err
		}
		if p.status != http.StatusOK {
			return fmt.Errorf("fetch %s: status %d", u, p.status)
		}
		t.add(p)
		return nil
	})
}

type visit func(ctx context.Context, c *http.Client, url string) error

// fetchAll visits the URLs with the given number of workers and returns the first error.
func fetchAll(ctx context.Context, urls []string, workers int, v visit) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	client := newClient(workers)
	defer client.CloseIdleConnections()

	var next atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(urls) {
					return
				}
				if err := v(ctx, client, urls[i]); err != nil {
					cancel(err)
				}
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// get fetches and reads one page.
func get(ctx context.Context, c *http.Client, u string) (*page, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u, nil)
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	resp, err := c.Do(req)
	if err != nil {
		return nil, fmt.Errorf("fetch: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	p := &page{url: resp.Request.URL, status: resp.StatusCode}
	body := &countingReader{r: resp.Body}
	if resp.StatusCode == http.StatusOK && strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") {
		p.html = true
		err = p.read(body)
	} else {
		_, err = io.Copy(io.Discard, body) // to the end, so that the connection can be used again
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", u, err)
	}
	p.bytes = body.n
	return p, nil
}

type countingReader struct {
	r io.Reader
	n int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err // io.EOF has to stay itself
}

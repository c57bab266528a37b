package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"

	"seine/internal/render"
	"seine/internal/render/pageproxy"
	"seine/pkg/crawlspec"
)

// seine is Seine's renderer, for which a page is fetched before, as the fetcher does.
type seine struct {
	renderer *render.Renderer
	how      crawlspec.Render
}

// transport fetches documents, and what pages ask for.
var transport = &http.Transport{MaxIdleConnsPerHost: 16, DisableCompression: true}

func startSeine(s setup) (browser, error) {
	cfg := render.DefaultConfig()
	cfg.Path, cfg.Tabs, cfg.Pages = s.path, s.tabs, s.browserPages
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	how := crawlspec.DefaultRender()
	how.Until = crawlspec.RenderUntil(s.until)
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	return &seine{render.New(cfg, log), how}, nil
}

func (s *seine) show(ctx context.Context, url string) (string, error) {
	document, err := fetch(ctx, url)
	if err != nil {
		return "", err
	}
	page, err := s.renderer.Render(ctx, &render.Job{
		Crawl: "bench", Main: document, How: &s.how, UserAgent: "seine-bench/1.0", Transport: transport, MaxBody: 16 << 20,
	})
	if err != nil {
		return "", err
	}
	return string(page.HTML), nil
}

func (s *seine) close() { s.renderer.Close() }

func fetch(ctx context.Context, url string) (d pageproxy.Document, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return d, fmt.Errorf("fetch: %w", err)
	}
	res, err := transport.RoundTrip(req)
	if err != nil {
		return d, fmt.Errorf("fetch %s: %w", url, err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return d, fmt.Errorf("fetch %s: %w", url, err)
	}
	return pageproxy.Document{URL: url, Status: res.StatusCode, Header: res.Header, Body: body}, nil
}

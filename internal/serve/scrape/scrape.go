// Package scrape fetches single pages for API clients with the code of the fetcher and the parser.
// robots.txt, address checks, and the limits and the pace of a spec apply as in a crawl. A host
// gets one request at a time over all callers, with the delay of the spec and of robots.txt between
// two requests.
//
// It returns the result of a spec on a page, or the map of a site, which may include the URLs that
// a crawl knows. It does not coordinate with running crawls, whose requests to the same host are
// separate.
package scrape

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"seine/internal/base/jsontext"
	"seine/internal/base/recent"
	"seine/internal/base/weburl"
	"seine/internal/page/htmlpage"
	"seine/internal/render"
	"seine/internal/run/trial"
	"seine/pkg/crawlspec"
	"seine/pkg/stages/fetcher"
	"seine/pkg/stages/parser"
)

// Page is the result for a page.
type Page struct {
	trial.Result
	Markdown   *string         `json:"markdown,omitempty"` // of the main content
	HTML       *string         `json:"html,omitempty"`     // of the main content
	Text       *string         `json:"text,omitempty"`     // of the whole page
	RawHTML    *string         `json:"raw_html,omitempty" doc:"The document as it was received or rendered, in UTF-8."`
	NextOffset int             `json:"next_offset,omitempty" doc:"Offset of the next part of texts that limit has cut; absent at the end."`
	Metadata   json.RawMessage `json:"metadata,omitempty"`
	// Withheld lists credentials of the spec that were not sent, with the reason.
	Withheld string `json:"withheld,omitempty"`
}

// Scraper fetches single pages. It is safe for concurrent use.
type Scraper struct {
	fetch   *fetcher.Single
	browser render.Config
	slots   chan struct{}
	turns   *hostTurns
	sites   recent.Cache[string, *site]
}

// Limits of concurrent work.
const (
	workers  = 16
	waitHost = 15 * time.Second // maximum wait for a host
	// MaxBody bounds a page, even if the spec permits more, because all in-flight pages are in
	// memory.
	MaxBody = crawlspec.Bytes(16 << 20)
)

// New returns a scraper. secrets is the directory of secrets for requests, "" for none; browser
// renders pages.
func New(secrets string, browser render.Config) (*Scraper, error) {
	cfg := fetcher.DefaultConfig()
	cfg.Workers, cfg.Secrets, cfg.MaxInFlightBody = workers, secrets, max(cfg.MaxInFlightBody, 4*MaxBody)
	f, err := fetcher.NewSingle(cfg, browser)
	if err != nil {
		return nil, err
	}
	s := &Scraper{fetch: f, browser: browser, slots: make(chan struct{}, workers), turns: newHostTurns(waitHost), sites: recent.Cache[string, *site]{Most: maxSites}}
	f.Turn = s.turn
	return s, nil
}

// Close closes the connections and the browser.
func (s *Scraper) Close() { s.fetch.Close() }

// Errors in requests.
var (
	ErrURL     = errors.New("no URL")
	ErrBrowser = errors.New("screenshot and pdf need a browser")
)

// fetchURL fetches a URL after the delay of its host.
func (s *Scraper) fetchURL(ctx context.Context, spec *crawlspec.Spec, url string) (*fetcher.Fetched, error) {
	canonical, err := crawlspec.Canonical(spec, url)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrURL, err)
	}
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	bounded := *spec
	bounded.MaxBody = min(bounded.MaxBody, MaxBody)
	return s.fetch.Fetch(ctx, &bounded, canonical, func(time.Duration) {})
}

// turn waits for the turn at the host of a URL.
func (s *Scraper) turn(ctx context.Context, url string) (func(time.Duration), error) {
	return s.turns.take(ctx, weburl.Host(url))
}

// described are the metadata fields of a page.
var described = []string{"url", "status", "content_type", "title", "description", "canonical", "language", "author", "published", "open_graph", "json_ld", "fetched_at"}

// Fetch fetches a page, and returns the result of a spec's rules with texts, links and metadata. It
// fetches all media types; types that Seine cannot read have metadata only.
func (s *Scraper) Fetch(ctx context.Context, spec *crawlspec.Spec, url string, parts *Parts) (*Page, error) {
	if parts.wantsPictures() {
		if err := s.browser.Check(); err != nil {
			return nil, fmt.Errorf("%w: %v", ErrBrowser, err) //nolint:errorlint // a wrapped fs.ErrNotExist would mean a missing output file
		}
	}
	spec = parts.applyTo(spec)
	spec.Accept = append(slices.Clip(spec.Accept), "*/*")
	got, err := s.fetchURL(ctx, spec, url)
	if err != nil {
		return nil, err
	}
	result, err := trial.Apply(ctx, got, spec)
	if err != nil {
		return nil, err
	}
	out := &Page{Result: *result, Withheld: got.Withheld}
	if err := out.describe(ctx, got, spec, parts); err != nil {
		return nil, err
	}
	parts.addMissing(out)
	parts.keep(out)
	return out, nil
}

// describe adds the requested texts and the metadata, which are fields of a record of the page.
func (p *Page) describe(ctx context.Context, got *fetcher.Fetched, spec *crawlspec.Spec, parts *Parts) error {
	about := *spec
	about.Records, about.Follow = nil, nil
	about.Page.Emit, about.Page.When, about.Page.Fields = crawlspec.EmitAlways, nil, append([]string{"markdown", "text"}, described...)
	if err := about.Validate(); err != nil {
		return fmt.Errorf("describe a page: %w", err)
	}
	made, err := parser.ParsePage(ctx, parser.DefaultConfig(), &about, &got.Page, got.Body)
	if err != nil || len(made.Records) == 0 {
		return err
	}
	var fields map[string]json.RawMessage
	if err := jsontext.Unmarshal(made.Records[0], &fields); err != nil {
		return fmt.Errorf("describe a page: %w", err)
	}
	var markdown, text string // a page without text has no Markdown
	_ = jsontext.Unmarshal(fields["markdown"], &markdown)
	_ = jsontext.Unmarshal(fields["text"], &text)
	isHTML := fetcher.IsHTML(p.ContentType)
	if parts.wants("markdown") {
		p.Markdown = &markdown
	}
	if parts.wants("text") {
		p.Text = &text
	}
	if parts.wants("html") {
		p.HTML = new(mainHTML(made.Document))
	}
	if parts.wants("raw_html") && isHTML {
		p.RawHTML = new(string(made.Document.Body()))
	}
	if text == "" && p.Rendered == "" && isHTML && htmlpage.HasScript(got.Body) {
		p.Problems = append(p.Problems, trial.Problem{Rule: "page", Field: "text", Reason: "the page has no text unless its scripts run: a spec with render: auto may help"})
	}
	delete(fields, "markdown")
	delete(fields, "text")
	p.Metadata, err = json.Marshal(fields)
	return err
}

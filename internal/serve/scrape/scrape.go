// Package scrape fetches single pages by the fetcher's and the parser's own code, for programs that ask for one:
// robots.txt, the guard of addresses, the limits and the pace of a spec hold as in a crawl. A host gets one
// request at a time of all callers together, and rests between two as the spec and robots.txt say.
//
// It consumes a spec and a URL, and emits what comes of the page, or with what a crawl knows the map of a site. It
// knows nothing of running crawls: their requests to the same host are separate.
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

// Page is what comes of a page.
type Page struct {
	trial.Result
	Markdown   *string         `json:"markdown,omitempty"` // of its main content
	HTML       *string         `json:"html,omitempty"`     // of its main content
	Text       *string         `json:"text,omitempty"`     // of all of it
	RawHTML    *string         `json:"raw_html,omitempty" doc:"The document as it was received or rendered, in UTF-8."`
	NextOffset int             `json:"next_offset,omitempty" doc:"Offset of the next part of texts that limit has cut; absent at the end."`
	Metadata   json.RawMessage `json:"metadata,omitempty"`
	// Withheld says which credentials of the spec were not sent, and why.
	Withheld string `json:"withheld,omitempty"`
}

// Scraper is safe for concurrent use.
type Scraper struct {
	fetch   *fetcher.Single
	browser render.Config
	slots   chan struct{}
	turns   *hostTurns
	sites   recent.Cache[string, *site]
}

// Bounds of what is done at a time.
const (
	workers  = 16
	waitHost = 15 * time.Second // for the turn at a host
	// MaxBody bounds a page, whatever the spec says: all that are in progress are in memory.
	MaxBody = crawlspec.Bytes(16 << 20)
)

// New returns a scraper whose requests have the secrets of a folder, none for "". It renders pages in such a browser.
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

// Close closes the connections, and ends the browser.
func (s *Scraper) Close() { s.fetch.Close() }

// Errors of what was asked for.
var (
	ErrURL     = errors.New("no URL")
	ErrBrowser = errors.New("screenshot and pdf need a browser")
)

// fetchURL fetches a URL when its host has rested.
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

// described are the fields that describe a page.
var described = []string{"url", "status", "content_type", "title", "description", "canonical", "language", "author", "published", "open_graph", "json_ld", "fetched_at"}

// Fetch fetches a page, and returns what the rules of a spec make of it, with its texts, links and metadata. Pages of
// all media types are fetched: of those that Seine does not read there is metadata.
func (s *Scraper) Fetch(ctx context.Context, spec *crawlspec.Spec, url string, parts *Parts) (*Page, error) {
	if parts.wantsPictures() {
		if err := s.browser.Check(); err != nil {
			return nil, fmt.Errorf("%w: %v", ErrBrowser, err) //nolint:errorlint // a missing file would be that of an output
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

// describe adds the texts that were asked for and the metadata, which are fields of a record of the page.
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

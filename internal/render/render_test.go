package render

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/sync/errgroup"

	"seine/internal/base/jsontext"
	"seine/internal/render/pageproxy"
	"seine/internal/testing/browser"
	"seine/internal/testing/scriptweb"
	"seine/pkg/crawlspec"
)

// start starts a renderer. Without a browser the test fails in CI, and is skipped elsewhere.
func start(t *testing.T, cfg Config) *Renderer {
	t.Helper()
	browser.Path(t)
	r := New(cfg, slog.New(slog.DiscardHandler))
	t.Cleanup(r.Close)
	return r
}

// guarded is a transport to only these origins.
type guarded []string

func (g guarded) RoundTrip(r *http.Request) (*http.Response, error) {
	if !slices.Contains(g, r.URL.Scheme+"://"+r.URL.Host) {
		return nil, fmt.Errorf("the guard refuses %s", r.URL.Host)
	}
	return http.DefaultTransport.RoundTrip(r)
}

// jobFor returns a job for a page of the test web, fetched as by the fetcher.
func jobFor(t *testing.T, w *scriptweb.Web, p scriptweb.Page) *Job {
	t.Helper()
	how := crawlspec.DefaultRender()
	if p.Render != "" {
		if err := jsontext.Unmarshal([]byte(p.Render), &how); err != nil {
			t.Fatal(err)
		}
	}
	res, err := http.Get(w.URL(p.Path))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	allowed := guarded{w.Origin(), w.Secure()}
	if p.NeedsOther {
		allowed = append(allowed, w.Other(), w.Elsewhere())
	}
	return &Job{
		Crawl: "shop " + p.Render, How: &how, UserAgent: "seine/test", MaxBody: 64 << 20, Transport: allowed,
		Main: pageproxy.Document{URL: w.URL(p.Path), Status: res.StatusCode, Header: res.Header, Body: body},
	}
}

// allPages is the variable that also enables pages that take a core for half a minute each,
// although cheaper pages of their kind exist: `make render`.
const allPages = "SEINE_RENDER_ALL"

var longPages = []string{"endless-loop-later", "endless-promises", "out-of-memory-buffers", "growing-document", "huge-text"}

// Every page of the script web ends as it declares: with its text and links, with a redirect, or
// with a failure. No forbidden request is sent.
func TestPagesOfTheScriptWeb(t *testing.T) {
	w := scriptweb.Start(t)
	r := start(t, Config{Tabs: 4, Pages: 1000})
	var all errgroup.Group
	all.SetLimit(4) // pages wait more than they compute, so this is more than t.Parallel would run at once
	for _, p := range scriptweb.Pages() {
		all.Go(func() error { t.Run(p.Name, func(t *testing.T) { testPage(t, w, r, p) }); return nil })
	}
	_ = all.Wait()
}

func testPage(t *testing.T, w *scriptweb.Web, r *Renderer, p scriptweb.Page) {
	t.Helper()
	if slices.Contains(longPages, p.Name) && os.Getenv(allPages) == "" {
		t.Skip("takes a core for half a minute: make render runs it")
	}
	job := jobFor(t, w, p)
	page, err := r.Render(t.Context(), job)
	for range 3 { // idleness depends on timing, which a busy machine disturbs
		if err == nil && !isWhole(t, w, p, page) {
			page, err = r.Render(t.Context(), job)
		}
	}
	checkEnd(t, w, p, page, err)
	if err == nil && page.Redirect == "" {
		checkContent(t, w, p, page)
	}
	for _, path := range p.Asked {
		if w.CountRequests(path) == 0 {
			t.Errorf("%s was not asked for", path)
		}
	}
	for _, path := range p.NotAsked {
		if n := w.CountRequests(path); n > 0 {
			t.Errorf("%s was asked for %d times", path, n)
		}
	}
	if t.Failed() && page != nil {
		t.Logf("%.4000s\n%+v %q", page.HTML, page.Totals, page.Cut)
	}
}

// checkEnd checks that the page was rendered, or failed as its script declares.
func checkEnd(t *testing.T, w *scriptweb.Web, p scriptweb.Page, page *Page, err error) {
	t.Helper()
	var failed *Error
	switch {
	case p.MayFail && errors.As(err, &failed):
	case p.Fails != (err != nil) || err != nil && !errors.As(err, &failed):
		t.Fatalf("it ends with %v", err)
	case err == nil && p.RedirectTo == "" && page.Redirect != "":
		t.Errorf("it leads to %s", page.Redirect)
	case err == nil && p.RedirectTo != "" && page.Redirect != w.URL(p.RedirectTo):
		t.Errorf("it leads to %q, want %s", page.Redirect, w.URL(p.RedirectTo))
	}
}

// isWhole reports whether a page redirected, if it must, or otherwise has all required content.
func isWhole(t *testing.T, w *scriptweb.Web, p scriptweb.Page, page *Page) bool {
	t.Helper()
	if p.RedirectTo != "" || page.Redirect != "" {
		return page.Redirect != ""
	}
	return len(missing(t, w, p, page)) == 0
}

func checkContent(t *testing.T, w *scriptweb.Web, p scriptweb.Page, page *Page) {
	t.Helper()
	for _, what := range missing(t, w, p, page) {
		t.Errorf("it is without %s", what)
	}
	text, _ := read(t, w.URL(p.Path), page.HTML)
	for _, unwanted := range p.Without {
		if strings.Contains(text, unwanted) {
			t.Errorf("there is the text %q", unwanted)
		}
	}
}

// missing returns the required content that a page lacks.
func missing(t *testing.T, w *scriptweb.Web, p scriptweb.Page, page *Page) (what []string) {
	t.Helper()
	text, links := read(t, w.URL(p.Path), page.HTML)
	for _, want := range p.Text {
		if !strings.Contains(text, want) {
			what = append(what, fmt.Sprintf("the text %q", want))
		}
	}
	for _, want := range p.Links {
		if !links[w.URL(want)] {
			what = append(what, "a link to "+w.URL(want))
		}
	}
	return what
}

// read returns the text and the links of a document, using another parser than Seine's.
func read(t *testing.T, at string, html []byte) (text string, links map[string]bool) {
	t.Helper()
	doc, err := goquery.NewDocumentFromReader(bytes.NewReader(html))
	if err != nil {
		t.Fatal(err)
	}
	base, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	if href, ok := doc.Find("base[href]").First().Attr("href"); ok {
		if base, err = base.Parse(href); err != nil {
			t.Fatal(err)
		}
	}
	links = make(map[string]bool)
	for _, name := range []string{"href", "src"} {
		doc.Find("[" + name + "]").Each(func(_ int, s *goquery.Selection) {
			if u, err := base.Parse(s.AttrOr(name, "")); err == nil {
				links[u.String()] = true
			}
		})
	}
	doc.Find("script, style").Remove()
	return strings.Join(strings.Fields(doc.Text()), " "), links
}

func TestRenderEndsWithItsContext(t *testing.T) {
	t.Parallel()
	r := start(t, Config{Tabs: 1, Pages: 1000})
	w := scriptweb.Start(t)
	job := jobFor(t, w, scriptweb.Named("fetch-list"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Render(ctx, job); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := r.Render(t.Context(), job); err != nil {
		t.Errorf("after that: %v", err)
	}
}

// A failed script of the spec does not affect the page's existing content, and is reported by the
// page.
func TestScriptThatFails(t *testing.T) {
	t.Parallel()
	r, w := start(t, Config{Tabs: 1, Pages: 1000}), scriptweb.Start(t)
	job := jobFor(t, w, scriptweb.Named("fetch-list"))
	whole, err := r.Render(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	for script, why := range map[string]string{"throw new Error('no list')": "no list", "no script": "SyntaxError"} {
		job.How.Actions = []crawlspec.RenderAction{{Script: script}}
		got, err := r.Render(t.Context(), job)
		if err != nil || !bytes.Equal(got.HTML, whole.HTML) || !strings.Contains(got.Cut, why) {
			t.Errorf("%s: %v, %+v", script, err, got)
		}
	}
}

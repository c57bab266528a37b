package main

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"seine/internal/testing/scriptweb"
	"seine/pkg/crawlspec"
)

// kindNames are the pages of the test web that a person's script can tell as complete by their text.
var kindNames = strings.Fields(`push-state-router push-state-route hash-router hash-route replace-state leads-to-204 goes-back closes-itself
	fetch-list fetch-chain fetch-post xhr-list websocket-data sse-data sse-open streamed-body template-modules
	lazy-images intersection-observer finite-scroll virtual-list load-more-button
	never-idle long-poll never-still slow-script slow-async-script slow-style slow-iframe broken-script
	late-timer polled-article long-polled-article slow-picture-article
	dialogs popup download download-blob web-worker shared-worker service-worker cookies external-schemes
	loop-after-article endless-loop huge-document`)

// once are kinds of which there is one page, since it takes a core.
var once = strings.Fields("loop-after-article endless-loop huge-document")

// kindPages are so many pages, of all kinds in turn.
func kindPages(n int) (all []scriptweb.Page) {
	for i := 0; len(all) < n; i++ {
		p := scriptweb.Named(kindNames[i%len(kindNames)])
		round := i / len(kindNames)
		if round > 0 && slices.Contains(once, p.Name) {
			continue
		}
		before, fragment, found := strings.Cut(p.Path, "#")
		p.Path = fmt.Sprintf("%s?copy=%d", before, round+1)
		if found {
			p.Path += "#" + fragment
		}
		all = append(all, p)
	}
	return all
}

// howOf are the options of a page, but for the bounds of time that tests have.
func howOf(p *scriptweb.Page) (how crawlspec.Render, err error) {
	how = crawlspec.DefaultRender()
	if p.Render != "" {
		err = json.Unmarshal([]byte(p.Render), &how)
	}
	how.Timeout = crawlspec.DefaultRenderTimeout
	return how, err
}

// shownKind is what became of one page.
type shownKind struct {
	took  time.Duration
	found bool
}

// kinds shows pages of all kinds in Seine and by a person's script for each, which knows what to wait for, and crawls them in one go.
func (o *options) kinds(ctx context.Context, work string) error {
	web, err := scriptweb.Serve()
	if err != nil {
		return err
	}
	defer web.Close()
	pages := kindPages(o.Pages)
	s := setup{path: o.Browser, tabs: o.Tabs, browserPages: o.BrowserPages, work: work, windows: true, until: string(crawlspec.UntilIdle)}
	var shown [2][]shownKind
	for i, start := range []func(setup) (kindBrowser, error){startSeineKinds, startPerson} {
		if shown[i], err = s.showKinds(ctx, web, start, pages); err != nil {
			return err
		}
	}
	reportKinds(os.Stdout, pages, shown)
	return o.crawlKinds(ctx, work, web, pages)
}

// kindBrowser shows pages of the test web as they are to be shown.
type kindBrowser interface {
	find(ctx context.Context, web *scriptweb.Web, p *scriptweb.Page) (html string, err error)
	close()
}

// showKinds shows all pages in all tabs, and takes the time of each.
func (s setup) showKinds(ctx context.Context, web *scriptweb.Web, start func(setup) (kindBrowser, error), pages []scriptweb.Page) ([]shownKind, error) {
	b, err := start(s)
	if err != nil {
		return nil, err
	}
	defer b.close()
	shown := make([]shownKind, len(pages))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(s.tabs)
	var mu sync.Mutex
	for i := range pages {
		g.Go(func() error {
			began := time.Now()
			text, err := b.find(ctx, web, &pages[i])
			shown[i] = shownKind{time.Since(began), err == nil && lacks(text, &pages[i]) == ""}
			if err == nil && !shown[i].found {
				err = fmt.Errorf("it lacks %q", lacks(text, &pages[i]))
			}
			if err != nil {
				mu.Lock()
				defer mu.Unlock()
				fmt.Fprintf(os.Stderr, "%T %s: %v\n", b, pages[i].Path, err)
			}
			return ctx.Err()
		})
	}
	return shown, g.Wait()
}

// lacks is a text that a page must have and has not.
func lacks(text string, p *scriptweb.Page) string {
	text = html.UnescapeString(text)
	for _, want := range p.Text {
		if !strings.Contains(text, want) {
			return want
		}
	}
	return ""
}

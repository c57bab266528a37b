package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"seine/internal/render"
	"seine/internal/testing/scriptweb"
	"seine/pkg/crawlspec"
)

type seineKinds struct{ *seine }

func startSeineKinds(s setup) (kindBrowser, error) {
	b, err := startSeine(s)
	if err != nil {
		return nil, err
	}
	return seineKinds{b.(*seine)}, nil // it starts no other
}

// find is of kindBrowser.
func (s seineKinds) find(ctx context.Context, web *scriptweb.Web, p *scriptweb.Page) (string, error) {
	document, err := fetch(ctx, web.URL(p.Path))
	if err != nil {
		return "", err
	}
	how, err := howOf(p)
	if err != nil {
		return "", err
	}
	shown, err := s.renderer.Render(ctx, &render.Job{
		Crawl: "bench", Main: document, How: &how, UserAgent: "seine-bench/1.0", Transport: transport, MaxBody: 64 << 20,
	})
	if err != nil {
		return "", err
	}
	return string(shown.HTML), nil
}

// person is who has a script for each page, which knows the text that it is complete with, and what brings it.
type person struct{ *bare }

func startPerson(s setup) (kindBrowser, error) {
	b, err := startBare(s)
	if err != nil {
		return nil, err
	}
	bare := b.(*bare) // it starts no other
	for range s.tabs {
		tab := <-bare.tabs
		listen(tab)
		bare.tabs <- tab
	}
	return person{bare}, nil
}

// listen has dialogs of a tab closed.
func listen(tab context.Context) {
	chromedp.ListenTarget(tab, func(event any) {
		if _, is := event.(*page.EventJavascriptDialogOpening); is {
			go chromedp.Run(tab, page.HandleJavaScriptDialog(true)) //nolint:errcheck // of a tab that may be closed
		}
	})
}

// personPoll is between looks of the person's script, as of chromedp's.
const personPoll = 50 * time.Millisecond

// bringMore has a page show more: it scrolls all that scrolls, and presses the button for more. It keeps what it has seen.
const bringMore = `(() => {
	window.seen = (window.seen ?? '') + document.documentElement.innerHTML
	document.querySelector('button.more')?.click()
	for (const e of [document.scrollingElement, ...document.querySelectorAll('#box')]) e?.scrollBy(0, e.clientHeight / 2)
	return window.seen
})()`

// leave ends a tab whose page hangs, and returns another one.
func (b person) leave(tab context.Context) context.Context {
	ended, cancel := context.WithTimeout(tab, time.Second)
	defer cancel()
	_ = chromedp.Run(ended, page.Crash())
	next, err := newWindow(tab)
	if err == nil {
		listen(next)
		err = chromedp.Run(next, page.SetLifecycleEventsEnabled(true))
	}
	if err != nil {
		panic(err)
	}
	return next
}

func (b person) find(ctx context.Context, web *scriptweb.Web, p *scriptweb.Page) (html string, err error) {
	tab := <-b.tabs
	defer func() { b.tabs <- tab }()
	within, cancel := context.WithTimeout(tab, time.Duration(crawlspec.DefaultRenderTimeout))
	defer cancel()
	err = chromedp.Run(within, chromedp.ActionFunc(func(ctx context.Context) error {
		_, _, _, _, err := page.Navigate(web.URL(p.Path)).Do(ctx)
		return err
	}))
	texts, _ := json.Marshal(p.Text)
	complete, take := fmt.Sprintf("(text => %s.every(t => text.includes(t)))(document.documentElement?.textContent ?? '')", texts), "document.documentElement.outerHTML"
	if how, _ := howOf(p); len(how.Actions) > 0 {
		complete, take = fmt.Sprintf("(text => %s.every(t => text.includes(t)))(%s)", texts, bringMore), "window.seen"
	}
	for done := false; err == nil; {
		if err = chromedp.Run(within, chromedp.Evaluate(complete, &done)); done || within.Err() != nil {
			break
		}
		err = nil // the page is about to be another
		time.Sleep(personPoll)
	}
	if err == nil {
		err = chromedp.Run(within, chromedp.Evaluate(take, &html))
	}
	if err != nil && ctx.Err() == nil {
		tab = b.leave(tab)
	}
	return html, err
}

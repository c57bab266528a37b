package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"seine/bench/proc"
	"seine/internal/testing/scriptweb"
)

// figures are what one round has shown.
type figures struct {
	rate      float64 // pages a second
	browser   float64 // seconds of CPU a page of the browser's processes
	here      float64 // of this one
	rss, pss  float64 // MB of the browser's processes when half of the pages were shown
	processes float64
}

// warmPages are shown in each tab before the clock runs.
const warmPages = 5

// round starts a browser, shows so many light pages, and ends it.
func (s setup) round(ctx context.Context, web *scriptweb.Web, start func(setup) (browser, error), pages int) (f figures, err error) {
	b, err := start(s)
	if err != nil {
		return f, err
	}
	defer b.close()
	defer web.Reset()
	if err := s.show(ctx, web, b, warmPages*s.tabs, func() {}); err != nil {
		return f, err
	}
	browser, here, began, err := usage()
	if err != nil {
		return f, err
	}
	err = s.show(ctx, web, b, pages, f.readMemory)
	if err != nil {
		return f, err
	}
	browserAfter, hereAfter, ended, err := usage()
	f.rate = float64(pages) / ended.Sub(began).Seconds()
	f.browser, f.here = (browserAfter-browser)/float64(pages), (hereAfter-here)/float64(pages)
	return f, err
}

// usage is the CPU that browsers and this process have had, and when.
func usage() (browser, here float64, at time.Time, err error) {
	if browser, err = treeCPU(); err == nil {
		here, err = proc.CPU(os.Getpid())
	}
	return browser, here, time.Now(), err
}

func (f *figures) readMemory() {
	rss, pss, processes, _ := treeMemory()
	f.rss, f.pss, f.processes = proc.MB(rss), proc.MB(pss), float64(processes)
}

// show shows so many pages in all tabs, and calls half when half of them are done.
func (s setup) show(ctx context.Context, web *scriptweb.Web, b browser, pages int, half func()) error {
	var next atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for range s.tabs {
		g.Go(func() error {
			for n := int(next.Add(1)); n <= pages; n = int(next.Add(1)) {
				html, err := b.show(ctx, web.URL(fmt.Sprintf("/light/%d", n)))
				if err != nil {
					return err
				}
				if !strings.Contains(html, scriptweb.LightText(n)) {
					return fmt.Errorf("page %d lacks its text: %q", n, html)
				}
				if n == (pages+1)/2 {
					half()
				}
			}
			return nil
		})
	}
	return g.Wait()
}

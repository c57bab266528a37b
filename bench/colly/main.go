// Command colly crawls one host with the Colly framework and writes what Seine writes of a page: URL, title and text,
// as JSON lines compressed by zstd. It is the program Colly's own documentation leads to, with two things tuned in its
// favour: the transport keeps a connection per worker alive, where Go's default of two per host would cost a new one
// for many requests; and fragments are dropped from links, as Colly holds "page#a" and "page#b" for two pages.
//
// What stays is Colly's: it asks whether a URL is known and notes it in two steps, so that some pages are fetched
// twice, and its limit is on requests only, so that any number of pages may be parsed at once.
//
//	colly -n 16 -out FILE URL
package main

import (
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/gocolly/colly/v2"
)

func main() {
	parallel := flag.Int("n", 16, "requests at a time")
	out := flag.String("out", "pages.jsonl.zst", "file to write")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: colly [-n N] [-out FILE] URL")
		os.Exit(2)
	}
	if err := crawl(flag.Arg(0), *out, *parallel); err != nil {
		fmt.Fprintln(os.Stderr, "colly:", err)
		os.Exit(1)
	}
}

// crawl follows all links on the start page's host and port. Pages that fail are left out, as Colly does.
func crawl(start, out string, parallel int) error {
	u, err := url.Parse(start)
	if err != nil {
		return fmt.Errorf("parse start: %w", err)
	}
	w, err := newWriter(out)
	if err != nil {
		return err
	}
	c, err := newCollector(u, parallel)
	if err != nil {
		return err
	}
	follow(c, u.Host)
	c.OnHTML("html", func(e *colly.HTMLElement) {
		e.DOM.Find("script, style, noscript, template").Remove()
		w.write(record{
			URL:   e.Request.URL.String(),
			Title: strings.TrimSpace(e.DOM.Find("title").First().Text()),
			Text:  strings.Join(strings.Fields(e.DOM.Find("body").Text()), " "),
		})
	})
	if err := c.Visit(start); err != nil {
		return fmt.Errorf("visit start: %w", err)
	}
	c.Wait()
	return w.close()
}

func newCollector(start *url.URL, parallel int) (*colly.Collector, error) {
	c := colly.NewCollector(colly.Async(true), colly.AllowedDomains(start.Hostname()))
	c.IgnoreRobotsTxt = true
	c.WithTransport(&http.Transport{MaxIdleConnsPerHost: parallel, DisableCompression: true})
	c.SetRequestTimeout(time.Minute)
	if err := c.Limit(&colly.LimitRule{DomainGlob: "*", Parallelism: parallel}); err != nil {
		return nil, fmt.Errorf("set limit: %w", err)
	}
	return c, nil
}

// follow visits what a page links. AllowedDomains knows no ports, and other servers may run on this host.
func follow(c *colly.Collector, host string) {
	visit := func(e *colly.HTMLElement, attr string) {
		target, err := url.Parse(e.Request.AbsoluteURL(e.Attr(attr)))
		if err == nil && target.Host == host {
			target.Fragment, target.RawFragment = "", "" // Colly would fetch the page again for each
			_ = e.Request.Visit(target.String())         // most often: visited already
		}
	}
	c.OnHTML("a[href], area[href]", func(e *colly.HTMLElement) { visit(e, "href") })
	c.OnHTML("iframe[src], frame[src]", func(e *colly.HTMLElement) { visit(e, "src") })
}

// Command colly crawls one host with the Colly framework and writes what Seine writes of a page: URL, title and text,
// as JSON lines compressed by zstd. It is the program Colly's own documentation leads to, with two things tuned in its
// favour: the transport keeps a connection per worker alive, where Go's default of two per host would cost a new one
// for many requests; and fragments are dropped from links, as Colly holds "page#a" and "page#b" for two pages.
//
// What stays is Colly's: it asks whether a URL is known and notes it in two steps, so that some pages are fetched
// twice, and its limit is on requests only, so that any number of pages may be parsed at once.
//
// With a delay it obeys robots.txt and starts at the URLs of a list. Colly has a delay for each limit, so each host gets
// one of its own; its request for robots.txt knows none.
//
//	colly -n 16 -out FILE URL
//	colly -out FILE -list FILE -delay 10s -scope REGEXP
package main

import (
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/gocolly/colly/v2"
)

// options are the command line.
type options struct {
	parallel int
	out      string
	starts   []string
	delay    time.Duration
	scope    *regexp.Regexp // with a delay, what URLs of pages match
}

func main() {
	var o options
	flag.IntVar(&o.parallel, "n", 16, "requests at a time")
	flag.StringVar(&o.out, "out", "pages.jsonl.zst", "file to write")
	flag.DurationVar(&o.delay, "delay", 0, "time between the requests to a host")
	list := flag.String("list", "", "file with the URLs to start at")
	scope := flag.String("scope", "", "regular expression for the URLs of pages")
	flag.Parse()
	text, err := os.ReadFile(*list)
	o.starts = append(flag.Args(), strings.Fields(string(text))...)
	if *list != "" && err != nil || len(o.starts) == 0 || (o.delay > 0) != (*scope != "") {
		fmt.Fprintln(os.Stderr, "usage: colly [-n N] [-out FILE] URL\n       colly [-out FILE] -list FILE -delay DURATION -scope REGEXP")
		os.Exit(2)
	}
	o.scope = regexp.MustCompile(*scope)
	if err := crawl(o); err != nil {
		fmt.Fprintln(os.Stderr, "colly:", err)
		os.Exit(1)
	}
}

// crawl follows all links that lead to the same host and port. Pages that fail are left out, as Colly does.
func crawl(o options) error {
	w, err := newWriter(o.out)
	if err != nil {
		return err
	}
	c, err := newCollector(o)
	if err != nil {
		return err
	}
	follow(c)
	c.OnHTML("html", func(e *colly.HTMLElement) {
		e.DOM.Find("script, style, noscript, template").Remove()
		w.write(record{
			URL:   e.Request.URL.String(),
			Title: strings.TrimSpace(e.DOM.Find("title").First().Text()),
			Text:  strings.Join(strings.Fields(e.DOM.Find("body").Text()), " "),
		})
	})
	for _, start := range o.starts {
		if err := c.Visit(start); err != nil {
			return fmt.Errorf("visit start: %w", err)
		}
	}
	c.Wait()
	return w.close()
}

func newCollector(o options) (*colly.Collector, error) {
	c := colly.NewCollector(colly.Async(true))
	c.IgnoreRobotsTxt = o.delay == 0
	c.WithTransport(&http.Transport{MaxIdleConnsPerHost: o.parallel, DisableCompression: o.delay == 0})
	c.SetRequestTimeout(time.Minute)
	if o.delay > 0 {
		c.URLFilters = []*regexp.Regexp{o.scope}
		c.OnError(func(r *colly.Response, _ error) {
			if r.StatusCode == http.StatusServiceUnavailable {
				_ = r.Request.Retry()
			}
		})
	}
	for _, start := range o.starts {
		u, err := url.Parse(start)
		if err != nil {
			return nil, fmt.Errorf("parse start: %w", err)
		}
		limit := &colly.LimitRule{DomainGlob: u.Host, Delay: o.delay}
		if o.delay == 0 {
			c.AllowedDomains = append(c.AllowedDomains, u.Hostname())
			limit.Parallelism = o.parallel
		}
		if err := c.Limit(limit); err != nil {
			return nil, fmt.Errorf("set limit: %w", err)
		}
	}
	return c, nil
}

// follow visits what a page links on its host. AllowedDomains knows no ports, and other servers may run on this host.
func follow(c *colly.Collector) {
	visit := func(e *colly.HTMLElement, attr string) {
		target, err := url.Parse(e.Request.AbsoluteURL(e.Attr(attr)))
		if err == nil && target.Host == e.Request.URL.Host {
			target.Fragment, target.RawFragment = "", "" // Colly would fetch the page again for each
			_ = e.Request.Visit(target.String())         // most often: visited already
		}
	}
	c.OnHTML("a[href], area[href]", func(e *colly.HTMLElement) { visit(e, "href") })
	c.OnHTML("iframe[src], frame[src]", func(e *colly.HTMLElement) { visit(e, "src") })
}

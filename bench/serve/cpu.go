package main

import (
	"time"

	"seine/bench/proc"
)

// cost is what happened in some seconds: the pages that the crawl asked for, and the CPU time that its processes and the server
// took. Who shows pages to people is not in it: a browser is on the machine of its reader.
type cost struct {
	seconds, pages, crawl, server float64
}

// costWhile tells what happened while something was done.
func (r *rig) costWhile(do func() error) (c cost, err error) {
	before, err := r.costNow()
	if err != nil {
		return c, err
	}
	began := time.Now()
	if err := do(); err != nil {
		return c, err
	}
	c.seconds = time.Since(began).Seconds()
	now, err := r.costNow()
	c.pages, c.crawl, c.server = now.pages-before.pages, now.crawl-before.crawl, now.server-before.server
	return c, err
}

// costNow has the counts and times since the start.
func (r *rig) costNow() (c cost, err error) {
	used, err := r.crawl.CPU()
	if err == nil {
		c.server, err = proc.CPU(r.server.PID())
	}
	c.crawl, c.pages = used.Total(), float64(r.web.Log().Dropped())
	return c, err //nolint:wrapcheck // says all
}

func (c cost) plus(d cost) cost {
	return cost{c.seconds + d.seconds, c.pages + d.pages, c.crawl + d.crawl, c.server + d.server}
}

func (c cost) pagesPerSecond() float64 { return c.pages / c.seconds }
func (c cost) crawlPerPage() float64   { return c.crawl / c.pages }
func (c cost) serverPerSecond() float64 {
	return c.server / c.seconds
}

// extra is how much more CPU time was taken than alone, as a part of what the crawl took alone: by the crawl for a page, and by the
// server in a second. Neither depends on how much of the machine others have.
func (c cost) extra(alone cost) (crawl, server float64) {
	crawl = c.crawlPerPage()/alone.crawlPerPage() - 1
	server = (c.serverPerSecond() - alone.serverPerSecond()) / (alone.crawl / alone.seconds)
	return crawl, server
}

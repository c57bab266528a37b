package main

import (
	"fmt"
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
	return c, err
}

func (c cost) plus(d cost) cost {
	return cost{c.seconds + d.seconds, c.pages + d.pages, c.crawl + d.crawl, c.server + d.server}
}

// String tells it for a page of the crawl and for a second of the server; of a crawl that stands still for a second, too.
func (c cost) String() string {
	crawl := fmt.Sprintf("%.3f ms a page", 1e3*c.crawl/c.pages)
	if c.pages < c.seconds {
		crawl = fmt.Sprintf("%.1f ms a second", 1e3*c.crawl/c.seconds)
	}
	return fmt.Sprintf("%.0f pages/s, CPU of the crawl %s, of the server %.1f ms a second", c.pages/c.seconds, crawl, 1e3*c.server/c.seconds)
}

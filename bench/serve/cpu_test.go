package main

import "testing"

func TestCostIsToldByPageOrBySecond(t *testing.T) {
	running := cost{seconds: 10, pages: 1000, crawl: 10, server: 0.1}
	if got := running.plus(running).String(); got != "100 pages/s, CPU of the crawl 10.000 ms a page, of the server 10.0 ms a second" {
		t.Error(got)
	}
	paused := cost{seconds: 10, crawl: 0.5, server: 0.1}
	if got := paused.String(); got != "0 pages/s, CPU of the crawl 50.0 ms a second, of the server 10.0 ms a second" {
		t.Error(got)
	}
}

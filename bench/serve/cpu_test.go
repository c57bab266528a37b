package main

import (
	"math"
	"testing"
)

// What a page costs is told by CPU time: a machine that others slow down to half does not change it.
func TestExtraIsOfCPUTime(t *testing.T) {
	alone := cost{seconds: 10, pages: 1000, crawl: 10, server: 0.1}
	beside := cost{seconds: 20, pages: 1000, crawl: 10.1, server: 0.6}
	crawl, server := beside.extra(alone)
	if math.Abs(crawl-0.01) > 1e-9 || math.Abs(server-0.02) > 1e-9 {
		t.Errorf("%v of the crawl, %v of the server", crawl, server)
	}
	if sum := alone.plus(alone); sum.crawlPerPage() != alone.crawlPerPage() || sum.pagesPerSecond() != alone.pagesPerSecond() {
		t.Errorf("%+v", sum)
	}
}

func TestMiddleOfAnEvenNumber(t *testing.T) {
	if m := middle([]float64{4, 1, 3, 2}); m != 2.5 {
		t.Error(m)
	}
	if m := middle([]float64{3, 1, 2}); m != 2 {
		t.Error(m)
	}
}

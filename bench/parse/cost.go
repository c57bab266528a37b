package main

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"golang.org/x/net/html"

	"seine/internal/page/htmlpage"
	"seine/internal/testing/htmltree"
)

// parseMethod is one way to read a page.
type parseMethod struct {
	name string
	read func(p page) error
}

// Indexes into ways.
const (
	barePass = iota
	ownPass
	scanPage
	buildTree
	readTree
)

var ways = []parseMethod{
	barePass: {"tokenizer of golang.org/x/net/html", func(p page) error {
		z := html.NewTokenizer(bytes.NewReader(p.body))
		for z.Next() != html.ErrorToken {
		}
		return nil
	}},
	ownPass: {"tokenizer of htmlpage", func(p page) error {
		n := 0
		for tokens, t := htmlpage.NewTokens(p.body), new(htmlpage.Token); tokens.Next(t); {
			n++
		}
		if n == 0 {
			return errors.New("no tokens")
		}
		return nil
	}},
	scanPage: {"htmlpage.Scan", func(p page) error {
		_, err := htmlpage.Scan(p.body, p.url, "text/html", htmlpage.Options{})
		return err
	}},
	buildTree: {"DOM of golang.org/x/net/html", func(p page) error {
		_, err := html.Parse(bytes.NewReader(p.body))
		return err
	}},
	readTree: {"DOM, links and text of it (goquery)", func(p page) error {
		_, err := htmltree.Read(p.body, p.url, "text/html")
		return err
	}},
}

// usage is what a way took for all pages once.
type usage struct {
	time           time.Duration
	allocs, octets uint64
}

// cost measures the ways in rounds, one after the other in each, so that what else the machine does meets all of them,
// and compares within rounds.
func cost(o options) error {
	var pages []page
	size := 0
	for _, dir := range o.Dirs {
		more, err := readPages(dir)
		if err != nil {
			return err
		}
		pages = append(pages, more...)
	}
	for _, p := range pages {
		size += len(p.body)
	}
	rounds, err := measure(pages, o.Rounds)
	if err != nil {
		return err
	}
	report(rounds, len(pages), size)
	return judge(rounds, o)
}

func measure(pages []page, n int) ([][]usage, error) {
	var rounds [][]usage
	for i := range n + 1 {
		round := make([]usage, len(ways))
		for w := range ways {
			u, err := readAll(pages, ways[w].read)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", ways[w].name, err)
			}
			round[w] = u
		}
		if i > 0 {
			rounds = append(rounds, round)
		}
	}
	return rounds, nil
}

func readAll(pages []page, read func(page) error) (usage, error) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	start := time.Now()
	for _, p := range pages {
		if err := read(p); err != nil {
			return usage{}, fmt.Errorf("%s: %w", p.url, err)
		}
	}
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	return usage{took, after.Mallocs - before.Mallocs, after.TotalAlloc - before.TotalAlloc}, nil
}

// report prints the medians.
func report(rounds [][]usage, pages, size int) {
	fmt.Printf("%d pages, %.1f MB, %d rounds; medians\n", pages, float64(size)/1e6, len(rounds))
	fmt.Printf("%-36s %10s %8s %12s %10s\n", "", "µs/page", "MB/s", "allocs/page", "B/page")
	for w := range ways {
		took := median(rounds, func(r []usage) float64 { return r[w].time.Seconds() })
		allocs := median(rounds, func(r []usage) float64 { return float64(r[w].allocs) })
		octets := median(rounds, func(r []usage) float64 { return float64(r[w].octets) })
		n := float64(pages)
		fmt.Printf("%-36s %10.1f %8.0f %12.1f %10.0f\n", ways[w].name, took/n*1e6, float64(size)/1e6/took, allocs/n, octets/n)
	}
	for _, w := range []int{barePass, ownPass, buildTree, readTree} {
		fmt.Printf("%s / %s: %.2f\n", ways[scanPage].name, ways[w].name, ratio(rounds, w))
	}
}

// judge compares with the limits.
func judge(rounds [][]usage, o options) error {
	if r := ratio(rounds, barePass); r > o.MaxPass {
		return fmt.Errorf("a scan takes %.2f of a bare tokenizer pass, more than %.2f", r, o.MaxPass)
	}
	if r := ratio(rounds, buildTree); r > o.MaxTree {
		return fmt.Errorf("a scan takes %.2f of building the DOM, more than %.2f", r, o.MaxTree)
	}
	return nil
}

// ratio is the median of what a scan takes beside another way.
func ratio(rounds [][]usage, w int) float64 {
	return median(rounds, func(r []usage) float64 { return r[scanPage].time.Seconds() / r[w].time.Seconds() })
}

func median(rounds [][]usage, of func([]usage) float64) float64 {
	values := make([]float64, len(rounds))
	for i, r := range rounds {
		values[i] = of(r)
	}
	slices.Sort(values)
	return values[len(values)/2]
}

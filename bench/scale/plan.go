package main

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// setup is a number of processes, and what they are told.
type setup struct {
	name                                  string
	nodes, replicas, partitions           int
	frontiers, fetchers, parsers, writers int
	workers                               int           // of a fetcher
	latency                               time.Duration // of the web
}

// base is one of everything.
func base(name string) setup {
	return setup{name: name, nodes: 1, replicas: 1, partitions: 16, frontiers: 1, fetchers: 1, parsers: 1, writers: 1, workers: 64}
}

// vary returns a setup for each number.
func vary(what string, numbers []int, set func(*setup, int)) (all []setup) {
	for _, n := range numbers {
		s := base(fmt.Sprintf("%d %s", n, what))
		set(&s, n)
		all = append(all, s)
	}
	return all
}

// plans are setups to compare, the first one being what the others are held against.
var plans = map[string][]setup{
	"replicas": {
		base("R1, 1 server"),
		func() setup { s := base("R1, 3 servers"); s.nodes = 3; return s }(),
		func() setup { s := base("R3, 3 servers"); s.nodes, s.replicas = 3, 3; return s }(),
	},
	"partitions": vary("partitions", []int{1, 4, 16, 64}, func(s *setup, n int) { s.partitions = n }),
	"frontiers":  vary("frontiers", []int{1, 2, 4}, func(s *setup, n int) { s.frontiers = n }),
	"parsers":    vary("parsers", []int{1, 2, 4}, func(s *setup, n int) { s.parsers = n }),
	"writers":    vary("writers", []int{1, 2, 4}, func(s *setup, n int) { s.writers = n }),
	// A fetcher mostly waits, so that more of them are of use on few cores as well.
	"fetchers": vary("fetchers of 4 workers, web with 100 ms", []int{1, 2, 4, 8}, func(s *setup, n int) {
		s.fetchers, s.workers, s.latency = n, 4, 100*time.Millisecond
	}),
}

func planNames() []string { return slices.Sorted(maps.Keys(plans)) }

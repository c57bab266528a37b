package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"seine/bench/proc"
	"seine/internal/base/sleep"
)

// request is one that is sent many times; its name is what it is of.
type request struct{ name, url string }

// answers are what came of requests, by their names.
type answers struct {
	mu     sync.Mutex
	names  []string
	took   map[string][]time.Duration
	failed map[string]int
	first  error // of those that failed
}

func newAnswers() *answers {
	return &answers{took: make(map[string][]time.Duration), failed: make(map[string]int)}
}

// timeout is for one request.
const timeout = 30 * time.Second

// ask sends requests in turn, so many a second, however long their answers take, and waits for the last.
func (a *answers) ask(ctx context.Context, all []request, rate int, window time.Duration) error {
	var sent sync.WaitGroup
	defer sent.Wait()
	began := time.Now()
	for i := range int(window.Seconds() * float64(rate)) {
		due := began.Add(time.Duration(i) * time.Second / time.Duration(rate))
		if err := sleep.For(ctx, time.Until(due)); err != nil {
			return err
		}
		sent.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, timeout)
			defer cancel()
			r := all[i%len(all)]
			_, err := proc.Get(ctx, r.url)
			a.add(r.name, time.Since(due), err)
		})
	}
	return nil
}

func (a *answers) add(name string, took time.Duration, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !slices.Contains(a.names, name) {
		a.names = append(a.names, name)
	}
	a.took[name] = append(a.took[name], took)
	if err != nil {
		a.failed[name]++
		if a.first == nil {
			a.first = fmt.Errorf("%s: %w", name, err)
		}
	}
}

// report prints a table with a row for each name, and one for all.
func (a *answers) report(w io.Writer) {
	fmt.Fprintln(w, "| GET | requests | p50 ms | p99 ms | longest ms | failed |\n|---|---:|---:|---:|---:|---:|")
	var all []time.Duration
	failed := 0
	slices.Sort(a.names)
	for _, name := range a.names {
		row(w, name, a.took[name], a.failed[name])
		all, failed = append(all, a.took[name]...), failed+a.failed[name]
	}
	row(w, "all", all, failed)
	if a.first != nil {
		fmt.Fprintln(w, "the first that failed:", a.first)
	}
}

func row(w io.Writer, name string, took []time.Duration, failed int) {
	slices.Sort(took)
	at := func(part float64) float64 {
		return float64(took[min(int(part*float64(len(took))), len(took)-1)].Microseconds()) / 1000
	}
	fmt.Fprintf(w, "| %s | %d | %.1f | %.1f | %.0f | %d |\n", name, len(took), at(0.5), at(0.99), at(1), failed)
}

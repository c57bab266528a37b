package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"seine/bench/proc"
	"seine/internal/testing/scriptweb"
	"seine/pkg/messages"
)

// one is the command that crawls by itself.
const one = "seine"

// renderModes are the values of --render. The others are held against the first.
var renderModes = []string{"never", "auto", "always"}

// crawled is what a crawl of a shop has shown.
type crawled struct {
	wall     float64 // seconds of the command, with its start and end
	asking   float64 // seconds from the first request to the end of the last one
	statics  float64 // seconds from the first request for a page that needs no browser to the end of the last one
	pages    int     // that are well
	leaves   int     // that only pages link which need a browser
	rendered int
	samples  int // of those, pages that need no browser
}

// auto crawls shops by each mode in turn.
func (o *options) auto(ctx context.Context, work string) error {
	bin, err := proc.Commands(ctx, work, o.Bin, one)
	if err != nil {
		return err
	}
	web, err := scriptweb.Serve()
	if err != nil {
		return err
	}
	defer web.Close()
	for _, delay := range o.Delays {
		for _, app := range o.App {
			c := autoCrawl{bin: bin, work: work, seed: web.URL(scriptweb.ShopPath(o.Static, app)), delay: delay, perHost: strconv.Itoa(o.PerHost), keep: o.Keep}
			runs, err := o.autoRounds(ctx, c)
			if err != nil {
				return err
			}
			web.Reset()
			o.reportAuto(os.Stdout, delay, app, runs)
		}
	}
	return nil
}

// autoRounds does the rounds of one shop and delay, and returns what they have shown by mode.
func (o *options) autoRounds(ctx context.Context, c autoCrawl) (map[string][]crawled, error) {
	runs := make(map[string][]crawled)
	for round := range o.Rounds {
		for _, mode := range o.Modes {
			got, err := c.run(ctx, mode)
			if err != nil {
				return nil, fmt.Errorf("round %d, --render %s: %w", round+1, mode, err)
			}
			fmt.Fprintf(os.Stderr, "%d %s %s, %s: %+v\n", round+1, c.delay, c.seed, mode, got)
			runs[mode] = append(runs[mode], got)
		}
	}
	return runs, nil
}

// autoCrawl is a crawl that is done by different modes.
type autoCrawl struct {
	bin, work, seed, delay, perHost string
	keep                            bool
}

// alikeAllowed is for pages that are much alike, which the guard against sites that make pages up would end the crawl of.
const alikeAllowed = "traps: {same_content_after: 0}\n"

// run crawls by one mode.
func (c autoCrawl) run(ctx context.Context, mode string) (got crawled, err error) {
	dir, err := os.MkdirTemp(c.work, mode+"-")
	if err != nil {
		return got, fmt.Errorf("make run folder: %w", err)
	}
	if !c.keep {
		defer func() { _ = os.RemoveAll(dir) }()
	}
	spec, requests := filepath.Join(dir, "spec.yaml"), filepath.Join(dir, "requests")
	if err := os.WriteFile(spec, []byte("seeds: ["+c.seed+"]\n"+alikeAllowed), 0o600); err != nil {
		return got, fmt.Errorf("write the spec: %w", err)
	}
	began := time.Now()
	_, err = proc.Run(ctx, filepath.Join(c.bin, one), "crawl", "--spec", spec, "--data", filepath.Join(dir, "data"), "--out", filepath.Join(dir, "out"),
		"--log-requests", requests, "--render", mode, "--delay", c.delay, "--per-host", c.perHost, "--allow-private", "--quiet")
	if err != nil {
		return got, err
	}
	got.wall = time.Since(began).Seconds()
	results, err := c.results(ctx, requests)
	got.count(results)
	return got, err
}

// results reads the log of requests.
func (c autoCrawl) results(ctx context.Context, requests string) (all []messages.Result, err error) {
	cmd := exec.CommandContext(ctx, filepath.Join(c.bin, one), "cat", requests) //nolint:gosec // a command of this tree
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("read the log of requests: %w", err)
	}
	for line := range bytes.Lines(text) {
		var r messages.Result
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, fmt.Errorf("read the log of requests: %w", err)
		}
		all = append(all, r)
	}
	return all, nil
}

// count sums up the requests of a crawl.
func (got *crawled) count(results []messages.Result) {
	var all, statics span
	for _, r := range results {
		all.add(&r)
		static := strings.Contains(r.URL, "/static/")
		if static {
			statics.add(&r)
		}
		if r.Class == messages.OK {
			got.pages++
		}
		if r.Class == messages.OK && strings.Contains(r.URL, "/leaf/app-") {
			got.leaves++
		}
		if r.Rendered != "" {
			got.rendered++
		}
		if r.Rendered != "" && static {
			got.samples++
		}
	}
	got.asking, got.statics = all.seconds(), statics.seconds()
}

// span is a time in which requests were under way.
type span struct{ from, to time.Time }

func (s *span) add(r *messages.Result) {
	end := r.Started.Add(time.Duration(r.Timings.Total))
	if s.from.IsZero() || r.Started.Before(s.from) {
		s.from = r.Started
	}
	if end.After(s.to) {
		s.to = end
	}
}

func (s *span) seconds() float64 { return s.to.Sub(s.from).Seconds() }

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"seine/bench/others"
)

// buildTimeout bounds everything but the measured runs: builds on an empty cache, and questions for versions.
const buildTimeout = 15 * time.Minute

// runner carries out the runs.
type runner struct {
	options  options
	dirs     others.Dirs
	site     *site
	expected []string // URIs of the pages there are, sorted
	list     string   // file with their URLs
	trust    string   // file with the site's certificate; empty without TLS
	entries  []*entry
}

// entry is one crawler and its runs.
type entry struct {
	parallel int
	crawler  others.Crawler
	version  string
	skipped  error // why it was not run
	runs     []run
}

func newRunner(o options) (*runner, error) {
	here, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("find working folder: %w", err)
	}
	mod, err := os.ReadFile("go.mod")
	if err != nil || !strings.HasPrefix(string(mod), "module seine/bench\n") {
		return nil, errors.New("run it in the folder bench/ of a checkout")
	}
	work, err := os.MkdirTemp("", "seine-bench-")
	if err != nil {
		return nil, fmt.Errorf("make work folder: %w", err)
	}
	return &runner{options: o, dirs: others.Dirs{
		Bench: here, Root: filepath.Dir(here), Bin: filepath.Join(here, "bin"), Work: work,
	}}, nil
}

func (b *runner) close() {
	if b.site != nil {
		b.site.close()
	}
	if b.options.Keep {
		progress("kept: %s", b.dirs.Work)
		return
	}
	_ = os.RemoveAll(b.dirs.Work)
}

// prepare builds or finds the crawlers. One that is not installed is skipped; one that does not build is an error.
func (b *runner) prepare(ctx context.Context, chosen []others.Crawler) error {
	ctx, cancel := context.WithTimeout(ctx, buildTimeout)
	defer cancel()
	if _, err := (bare{}).Prepare(ctx, b.dirs); err != nil { // finds the pages, whoever is chosen
		return fmt.Errorf("prepare bare: %w", err)
	}
	for _, c := range chosen {
		version, err := c.Prepare(ctx, b.dirs)
		if err != nil && !errors.Is(err, others.ErrNotInstalled) {
			return fmt.Errorf("prepare %s: %w", c.Name(), err)
		}
		if err != nil {
			progress("%s is skipped: %v", c.Name(), err)
		}
		b.entries = append(b.entries, &entry{parallel: b.options.Parallel, crawler: c, version: version, skipped: err})
	}
	return nil
}

// startSite serves the site and crawls it once, which also warms it up, to know the pages there are.
func (b *runner) startSite(ctx context.Context) error {
	s, err := startSite(ctx, b.options.Site)
	if err != nil {
		return err
	}
	b.site = s
	if s.Certificate != "" {
		b.trust = filepath.Join(b.dirs.Work, "site.pem")
		if err := os.WriteFile(b.trust, []byte(s.Certificate), 0o600); err != nil {
			return fmt.Errorf("write certificate: %w", err)
		}
	}
	collect := bare{}.collect(b.job(""))
	collect.Trust = b.trust
	m, err := execute(ctx, collect, b.options.Timeout)
	if err != nil {
		return fmt.Errorf("find the pages: %w", err)
	}
	if b.expected, err = s.pages(ctx); err != nil {
		return err
	}
	if len(b.expected) == 0 {
		return errors.New("the site has no HTML page at its start")
	}
	progress("the site has %d pages (%s)", len(b.expected), strings.TrimSpace(m.stdout))

	var list strings.Builder
	for _, uri := range b.expected {
		fmt.Fprintf(&list, "%s%s\n", s.origin(), uri)
	}
	b.list = filepath.Join(b.dirs.Work, "pages.txt")
	if err := os.WriteFile(b.list, []byte(list.String()), 0o600); err != nil {
		return fmt.Errorf("write list of pages: %w", err)
	}
	return nil
}

// measure runs every crawler once per round, so that a change of the machine's speed meets them all.
func (b *runner) measure(ctx context.Context) error {
	for round := range b.options.Runs {
		for _, e := range b.entries {
			if e.skipped != nil {
				continue
			}
			r, err := b.once(ctx, e.crawler, "")
			if err != nil {
				return err
			}
			e.runs = append(e.runs, r)
			progress("run %d of %d  %-7s %s", round+1, b.options.Runs, e.crawler.Name(), r)
		}
	}
	return b.profile(ctx)
}

// once runs a crawler in a folder of its own. An error ends the bench; what goes wrong with the crawler is in the run.
func (b *runner) once(ctx context.Context, c others.Crawler, profile string) (run, error) {
	dir, err := os.MkdirTemp(b.dirs.Work, c.Name()+"-")
	if err != nil {
		return run{}, fmt.Errorf("make run folder: %w", err)
	}
	if !b.options.Keep {
		defer func() { _ = os.RemoveAll(dir) }()
	}
	if err := b.site.reset(ctx); err != nil {
		return run{}, err
	}
	j := b.job(dir)
	j.Profile = profile
	command := c.Command(j)
	command.Trust = b.trust
	m, failure := execute(ctx, command, b.options.Timeout)
	if ctx.Err() != nil {
		return run{}, fmt.Errorf("interrupted: %w", context.Cause(ctx))
	}
	seen, err := b.site.stats(ctx)
	if err != nil {
		return run{}, err
	}
	pages, err := b.site.pages(ctx)
	if err != nil {
		return run{}, err
	}
	r := run{usage: m.usage, Pages: seen.Pages, Requests: seen.Requests, ServerCPU: seen.CPU, Failure: failure}
	r.Missing, r.Extra = compare(b.expected, pages)
	r.Claimed = command.Claimed(m.stdout)
	return r, nil
}

// profile is one more run of Seine, which is not counted.
func (b *runner) profile(ctx context.Context) error {
	if b.options.Profile == "" {
		return nil
	}
	file, err := filepath.Abs(b.options.Profile)
	if err != nil {
		return fmt.Errorf("name profile: %w", err)
	}
	r, err := b.once(ctx, seine{}, file)
	if err != nil {
		return err
	}
	progress("profiled    seine   %s", r)
	return r.Failure
}

func (b *runner) job(dir string) others.Job {
	return others.Job{Dirs: b.dirs, URL: b.site.URL, List: b.list, Dir: dir, Parallel: b.options.Parallel}
}

func progress(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

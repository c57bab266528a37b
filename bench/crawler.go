package main

import (
	"context"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// errNotInstalled means that a crawler is no part of this checkout and not on this machine.
var errNotInstalled = errors.New("not installed")

// job is one crawl to be done.
type job struct {
	dirs     dirs
	url      string // where to start
	list     string // file with the URLs of all pages
	dir      string // where to write; empty and fresh
	parallel int
	profile  string // Seine: file for a CPU profile
}

func (j job) n() string                 { return strconv.Itoa(j.parallel) }
func (j job) out(elem ...string) string { return filepath.Join(append([]string{j.dir}, elem...)...) }

// command is how a crawler is run.
type command struct {
	argv  []string
	dir   string                   // working folder and home
	okay  []int                    // exit codes besides 0 that are no failure
	claim func(stdout string) *int // the crawler's own count of pages; may be nil
	trust string                   // file with the certificate of the site; empty without TLS
}

func (c command) claimed(stdout string) *int {
	if c.claim == nil {
		return nil
	}
	return c.claim(stdout)
}

// crawler is one of the programs compared. All crawl the start URL's host with the same number of requests at a time,
// no delay and robots.txt ignored, and follow links only: no stylesheets, scripts or pictures.
type crawler interface {
	name() string
	// prepare builds or finds the program and returns its version, or an error that wraps errNotInstalled.
	prepare(ctx context.Context, d dirs) (version string, err error)
	command(j job) command
}

// crawlers are in the order they run.
var crawlers = []crawler{seine{}, wget2{}, colly{}, scrapy{}, bare{}}

func crawlerNames() []string {
	var names []string
	for _, c := range crawlers {
		names = append(names, c.name())
	}
	return names
}

// chooseCrawlers reads a comma-separated list; empty means all. The order stays that of crawlers.
func chooseCrawlers(list string) ([]crawler, error) {
	if list == "" {
		return crawlers, nil
	}
	wanted := strings.Split(list, ",")
	for _, name := range wanted {
		if !slices.Contains(crawlerNames(), name) {
			return nil, fmt.Errorf("--only: no crawler %q; there are %s", name, strings.Join(crawlerNames(), ", "))
		}
	}
	var chosen []crawler
	for _, c := range crawlers {
		if slices.Contains(wanted, c.name()) {
			chosen = append(chosen, c)
		}
	}
	return chosen, nil
}

// seine runs with its defaults and all outputs on, each run from nothing.
type seine struct{}

func (seine) name() string { return "seine" }

func (seine) binary(d dirs) string { return filepath.Join(d.root, "bin", "seine") }

func (s seine) prepare(ctx context.Context, d dirs) (string, error) {
	if err := build(ctx, d.root, s.binary(d), "./cmd/seine"); err != nil {
		return "", err
	}
	return revision(ctx, d.root), nil
}

// command lifts what Seine does to be polite and safe on the open web (--delay, --per-host, --allow-private,
// --robots), as the others do here.
func (s seine) command(j job) command {
	argv := []string{
		s.binary(j.dirs), "crawl", j.url,
		"--data", j.out("data"), "--out", j.out("out"),
		"--delay", "0s", "--per-host", j.n(), "--workers", j.n(),
		"--allow-private", "--robots", "ignore", "--json", "--quiet",
	}
	if j.profile != "" {
		argv = append(argv, "--cpuprofile", j.profile)
	}
	return command{argv: argv, dir: j.dir, claim: claimedPages}
}

// baselineSeine is another build of Seine, to see what a change is worth.
type baselineSeine struct{ path string }

func (baselineSeine) name() string { return "beside" }

func (b baselineSeine) prepare(context.Context, dirs) (string, error) { return b.path, nil }

func (b baselineSeine) command(j job) command {
	c := seine{}.command(j)
	c.argv[0] = b.path
	return c
}

// claimedPages reads the summary that --json prints.
func claimedPages(stdout string) *int {
	var summary struct {
		Pages *int `json:"pages"`
	}
	if json.Unmarshal([]byte(stdout), &summary) != nil {
		return nil
	}
	return summary.Pages
}

// wget2 saves the pages as files and extracts nothing but links.
type wget2 struct{}

func (wget2) name() string { return "wget2" }

func (wget2) prepare(ctx context.Context, _ dirs) (string, error) {
	out, err := ask(ctx, "wget2", "--version")
	if err != nil {
		return "", fmt.Errorf("%w: apt-get install wget2", err)
	}
	version, _, _ := strings.Cut(strings.TrimPrefix(out, "GNU "), " - ")
	return version, nil
}

func (wget2) command(j job) command {
	return command{
		argv: []string{
			"wget2",
			"--quiet",
			"--recursive", "--level=inf",
			"--no-robots",
			"--max-threads=" + j.n(),
			"--ignore-tags=img,link,script,object,embed",                       // follow links only
			"--no-http2",                                                       // no attempt to upgrade, and
			"--no-compression",                                                 // no Accept-Encoding: the same bytes for all
			"--no-config", "--no-hsts", "--no-hpkp", "--no-ocsp", "--no-netrc", // nothing from or to the user's home
			"--no-xattr", // no extended attributes on each file
			"--directory-prefix=" + j.out("out"),
			j.url,
		},
		dir:  j.dir,
		okay: []int{8}, // a page answered with an error, as a dead link does
	}
}

// colly is the program in colly/, which writes records like Seine's.
type colly struct{}

func (colly) name() string { return "colly" }

func (c colly) prepare(ctx context.Context, d dirs) (string, error) {
	bin := filepath.Join(d.bin, c.name())
	if err := build(ctx, d.bench, bin, "./colly"); err != nil {
		return "", err
	}
	return "Colly " + dependency(bin, "github.com/gocolly/colly/v2"), nil
}

func (c colly) command(j job) command {
	return command{
		argv: []string{filepath.Join(j.dirs.bin, c.name()), "-n", j.n(), "-out", j.out("pages.jsonl.zst"), j.url},
		dir:  j.dir,
	}
}

// scrapy is the spider in scrapy/, which writes records like Seine's, but uncompressed.
type scrapy struct{}

func (scrapy) name() string { return "scrapy" }

func (scrapy) prepare(ctx context.Context, _ dirs) (string, error) {
	out, err := ask(ctx, "scrapy", "version")
	if err != nil {
		return "", fmt.Errorf("%w: apt-get install python3-scrapy", err)
	}
	return out, nil
}

func (scrapy) command(j job) command {
	return command{
		argv: []string{
			"scrapy", "runspider", filepath.Join(j.dirs.bench, "scrapy", "pages.py"),
			"-a", "url=" + j.url,
			"-s", "CONCURRENT_REQUESTS=" + j.n(),
			"-s", "CONCURRENT_REQUESTS_PER_DOMAIN=" + j.n(),
			"-O", j.out("pages.jsonl"),
		},
		dir: j.dir,
	}
}

// bare is the program in bare/: the limit that no crawler in Go can reach, since it knows all URLs beforehand, remembers
// nothing and stores nothing.
type bare struct{}

func (bare) name() string { return "bare" }

func (b bare) prepare(ctx context.Context, d dirs) (string, error) {
	bin := filepath.Join(d.bin, b.name())
	if err := build(ctx, d.bench, bin, "./bare"); err != nil {
		return "", err
	}
	return "golang.org/x/net " + dependency(bin, "golang.org/x/net"), nil
}

func (b bare) command(j job) command {
	return command{argv: []string{filepath.Join(j.dirs.bin, b.name()), "fetch", "-n", j.n(), j.list}, dir: j.dir}
}

// collect finds the pages by following links.
func (b bare) collect(j job) command {
	return command{argv: []string{filepath.Join(j.dirs.bin, b.name()), "collect", "-n", j.n(), j.url}, dir: j.dir}
}

func build(ctx context.Context, module, bin, pkg string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-o", bin, pkg) //nolint:gosec // fixed packages of this checkout
	cmd.Dir = module
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", pkg, err, out)
	}
	return nil
}

// ask returns the first line a program prints.
func ask(ctx context.Context, program string, args ...string) (string, error) {
	path, err := exec.LookPath(program)
	if err != nil {
		return "", errNotInstalled
	}
	out, err := exec.CommandContext(ctx, path, args...).Output() //nolint:gosec // one of two programs
	if err != nil {
		return "", fmt.Errorf("ask %s for its version: %w", program, err)
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return strings.TrimSpace(line), nil
}

// revision is Seine's commit, if git knows it.
func revision(ctx context.Context, root string) string {
	out, err := exec.CommandContext(ctx, "git", "-C", root, "describe", "--always", "--dirty", "--exclude=*").Output()
	if err != nil {
		return "Seine, of no known commit"
	}
	return "Seine " + strings.TrimSpace(string(out))
}

// dependency is the version of a module that a program was built with.
func dependency(bin, module string) string {
	info, err := buildinfo.ReadFile(bin)
	if err != nil {
		return "(unknown)"
	}
	for _, dep := range info.Deps {
		if dep.Path == module {
			return dep.Version
		}
	}
	return "(unknown)"
}

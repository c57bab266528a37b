// Package others runs crawlers that are not Seine.
package others

import (
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ErrNotInstalled means that a crawler is no part of this checkout and not on this machine.
var ErrNotInstalled = errors.New("not installed")

// Dirs are the folders a bench works in.
type Dirs struct {
	Bench string // the module's own
	Root  string // Seine's
	Bin   string // programs of this module
	Work  string // temporary
}

// Job is one crawl to be done: of the host of URL at full speed, or of the hosts of a list with a delay.
type Job struct {
	Dirs     Dirs
	URL      string // where to start
	List     string // file with the URLs of all pages; with a delay, of those to start at
	Dir      string // where to write; empty and fresh
	Parallel int    // requests at a time; with a delay, one for each host
	Profile  string // Seine: file for a CPU profile

	Delay time.Duration // least time between the requests to a host; 0 for full speed
	Scope string        // with a delay: a regular expression for the URLs of pages
}

func (j Job) n() string { return strconv.Itoa(j.Parallel) }

// Out names a file in the folder to write to.
func (j Job) Out(name string) string { return filepath.Join(j.Dir, name) }

func (j Job) seconds() string { return strconv.FormatFloat(j.Delay.Seconds(), 'f', -1, 64) }

// Command is how a crawler is run.
type Command struct {
	Argv   []string
	Dir    string                   // working folder and home
	Okay   []int                    // exit codes besides 0 that are no failure
	Claim  func(stdout string) *int // the crawler's own count of pages; may be nil
	Trust  string                   // file with the certificate of the site; empty without TLS
	Stored string                   // file or folder that has the pages afterwards
	About  string                   // what that is, and what the crawler does not do as asked with a delay
}

// Claimed is the crawler's own count of pages, if it prints one.
func (c Command) Claimed(stdout string) *int {
	if c.Claim == nil {
		return nil
	}
	return c.Claim(stdout)
}

// Crawler is one of the programs compared. At full speed, all crawl the start URL's host with the same number of
// requests at a time, no delay and robots.txt ignored. With a delay they obey robots.txt, accept compressed pages, and
// are as polite as their own options allow. They follow links only: no stylesheets, scripts or pictures.
type Crawler interface {
	Name() string
	// Prepare builds or finds the program and returns its version, or an error that wraps ErrNotInstalled.
	Prepare(ctx context.Context, d Dirs) (version string, err error)
	Command(j Job) Command
}

// Names are those of crawlers.
func Names(crawlers []Crawler) string {
	var names []string
	for _, c := range crawlers {
		names = append(names, c.Name())
	}
	return strings.Join(names, ", ")
}

// Choose reads a comma-separated list, given as a flag; empty means all. The order stays that of all.
func Choose(flag, list string, all []Crawler) ([]Crawler, error) {
	if list == "" {
		return all, nil
	}
	wanted := strings.Split(list, ",")
	var chosen []Crawler
	for _, c := range all {
		if slices.Contains(wanted, c.Name()) {
			chosen = append(chosen, c)
			wanted = slices.DeleteFunc(wanted, func(name string) bool { return name == c.Name() })
		}
	}
	if len(wanted) > 0 {
		return nil, fmt.Errorf("%s: no crawler %q; there are %s", flag, wanted[0], Names(all))
	}
	return chosen, nil
}

// Wget2 saves the pages as files and extracts nothing but links.
type Wget2 struct{}

// Name implements Crawler.
func (Wget2) Name() string { return "wget2" }

// Prepare implements Crawler.
func (Wget2) Prepare(ctx context.Context, _ Dirs) (string, error) {
	out, err := FirstLine(ctx, "wget2", "--version")
	if err != nil {
		return "", fmt.Errorf("%w: apt-get install wget2", err)
	}
	version, _, _ := strings.Cut(strings.TrimPrefix(out, "GNU "), " - ")
	return version, nil
}

// Command implements Crawler.
func (Wget2) Command(j Job) Command {
	argv := []string{
		"wget2",
		"--quiet",
		"--recursive", "--level=inf",
		"--max-threads=" + j.n(),
		"--ignore-tags=img,link,script,object,embed",                       // follow links only
		"--no-config", "--no-hsts", "--no-hpkp", "--no-ocsp", "--no-netrc", // nothing from or to the user's home
		"--no-xattr", // no extended attributes on each file
		"--directory-prefix=" + j.Out("out"),
	}
	if j.Delay == 0 {
		argv = append(argv, "--no-robots",
			"--no-http2",       // no attempt to upgrade, and
			"--no-compression", // no Accept-Encoding: the same bytes for all
			j.URL)
	} else {
		argv = append(argv, "--input-file="+j.List, "--wait="+j.seconds(), "--filter-urls", "--accept-regex="+j.Scope,
			"--no-http2",             // it waits after it has connected, for longer than servers wait for it
			"--no-check-certificate") // GnuTLS takes no wildcard for a top-level domain
	}
	return Command{
		Argv:   argv,
		Dir:    j.Dir,
		Okay:   []int{8}, // a page answered with an error, as a dead link does
		Stored: j.Out("out"),
		About:  "pages as files; waits in each thread; HTTP/1.1; fetches no page again after 503; certificates not checked",
	}
}

// Colly is the program in colly/, which writes records like Seine's.
type Colly struct{}

// Name implements Crawler.
func (Colly) Name() string { return "colly" }

// Prepare implements Crawler.
func (c Colly) Prepare(ctx context.Context, d Dirs) (string, error) {
	bin := filepath.Join(d.Bin, c.Name())
	if err := Build(ctx, d.Bench, bin, "./colly"); err != nil {
		return "", err
	}
	return "Colly " + Dependency(bin, "github.com/gocolly/colly/v2"), nil
}

// Command implements Crawler.
func (c Colly) Command(j Job) Command {
	out := j.Out("pages.jsonl.zst")
	argv := []string{filepath.Join(j.Dirs.Bin, c.Name()), "-n", j.n(), "-out", out}
	if j.Delay == 0 {
		argv = append(argv, j.URL)
	} else {
		argv = append(argv, "-list", j.List, "-delay", j.Delay.String(), "-scope", j.Scope)
	}
	return Command{Argv: argv, Dir: j.Dir, Stored: out, About: "records with text, zstd; fetches robots.txt without a delay; no brotli"}
}

// Scrapy is the spider in scrapy/, which writes records like Seine's, but uncompressed.
type Scrapy struct{}

// Name implements Crawler.
func (Scrapy) Name() string { return "scrapy" }

// Prepare implements Crawler.
func (Scrapy) Prepare(ctx context.Context, _ Dirs) (string, error) {
	out, err := FirstLine(ctx, "scrapy", "version")
	if err != nil {
		return "", fmt.Errorf("%w: apt-get install python3-scrapy python3-brotli", err)
	}
	return out, nil
}

// Command implements Crawler.
func (Scrapy) Command(j Job) Command {
	out := j.Out("pages.jsonl")
	argv := []string{
		"scrapy", "runspider", filepath.Join(j.Dirs.Bench, "scrapy", "pages.py"),
		"-s", "CONCURRENT_REQUESTS=" + j.n(), "-O", out,
	}
	if j.Delay == 0 {
		argv = append(argv, "-a", "url="+j.URL, "-s", "CONCURRENT_REQUESTS_PER_DOMAIN="+j.n())
	} else {
		argv = append(argv, "-a", "starts="+j.List, "-a", "scope="+j.Scope, "-s", "CONCURRENT_REQUESTS_PER_DOMAIN=1",
			"-s", "DOWNLOAD_DELAY="+j.seconds(), "-s", "RANDOMIZE_DOWNLOAD_DELAY=False", "-s", "ROBOTSTXT_OBEY=True",
			"-s", "SCHEDULER_PRIORITY_QUEUE=scrapy.pqueues.DownloaderAwarePriorityQueue") // as its manual advises for many hosts
	}
	return Command{
		Argv: argv, Dir: j.Dir, Stored: out,
		About: "records with text; delay from request to request; HTTP/1.1; certificates not checked",
	}
}

// Crawlee is the CheerioCrawler in crawlee/, which writes records like Seine's, one in a file.
type Crawlee struct{}

// Name implements Crawler.
func (Crawlee) Name() string { return "crawlee" }

func (Crawlee) modules(d Dirs) string {
	return filepath.Join(d.Root, ".cache", "crawlee", "node_modules")
}

var versionOfPackage = regexp.MustCompile(`"version": "(.*)"`)

// Prepare implements Crawler.
func (c Crawlee) Prepare(ctx context.Context, d Dirs) (string, error) {
	text, err := os.ReadFile(filepath.Join(c.modules(d), "@crawlee", "cheerio", "package.json"))
	version := versionOfPackage.FindSubmatch(text)
	node, asked := FirstLine(ctx, "node", "--version")
	if err != nil || version == nil || asked != nil {
		return "", fmt.Errorf("%w: npm install --prefix .cache/crawlee @crawlee/cheerio", ErrNotInstalled)
	}
	return fmt.Sprintf("Crawlee %s (Node.js %s)", version[1], node), nil
}

// Command implements Crawler.
func (c Crawlee) Command(j Job) Command {
	argv := []string{"node", filepath.Join(j.Dirs.Bench, "crawlee", "pages.mjs"), c.modules(j.Dirs), j.n()}
	if j.Delay == 0 {
		argv = append(argv, j.URL)
	} else {
		argv = append(argv, j.List, j.seconds(), j.Scope)
	}
	return Command{
		Argv: argv, Dir: j.Dir, Stored: j.Out("storage"), // where it stores by default
		About: "records with text, a file each, and its queue; delay from request to request, none for robots.txt; certificates not checked",
	}
}

// Build builds a package of a module, with flags of go build.
func Build(ctx context.Context, module, bin, pkg string, flags ...string) error {
	args := append([]string{"build", "-o", bin}, flags...)
	cmd := exec.CommandContext(ctx, "go", append(args, pkg)...) //nolint:gosec // fixed packages of this checkout
	cmd.Dir = module
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", pkg, err, out)
	}
	return nil
}

// FirstLine returns the first line that a program prints.
func FirstLine(ctx context.Context, program string, args ...string) (string, error) {
	path, err := exec.LookPath(program)
	if err != nil {
		return "", ErrNotInstalled
	}
	out, err := exec.CommandContext(ctx, path, args...).Output() //nolint:gosec // one of a few programs
	if err != nil {
		return "", fmt.Errorf("ask %s for its version: %w", program, err)
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return strings.TrimSpace(line), nil
}

// Dependency is the version of a module that a program was built with.
func Dependency(bin, module string) string {
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

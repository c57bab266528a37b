// Command heavy measures what a page of the real web costs `seine crawl`: large pages over TLS, of many hosts, each
// with its robots.txt and a delay, some of them slow or failing, and a crawler that is killed.
//
//	cd bench && go run ./heavy                              # generated pages
//	cd bench && go run ./heavy -dir DIR                     # pages in files, *.html or *.html.gz
//	cd bench && go run ./heavy -dir DIR -beside OLD/seine   # and another build, in alternating runs
//	cd bench && go run ./heavy -kills 0 -crawlers seine,wget2,colly,scrapy,crawlee
//
// The web is served by this process, whose CPU time is printed apart. Half of the hosts offer HTTP/2, the others
// HTTP/1.1; half of the pages are sent with gzip, the others with brotli. One page in a hundred fails once with 503, one
// host in a hundred takes two seconds. Which pages a crawl must have, and the gaps between the requests to a host, come
// from the web's log; each page must be in the output once.
//
// Other crawlers are as polite as they can, and the table shows what they miss. They find the hosts in a file that
// unshare and mount put in the place of /etc/hosts, for them alone. Those that cannot trust a certificate for *.localhost
// check none.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"seine/bench/others"
	"seine/bench/proc"
	"seine/bench/summary"
)

// options are the command line.
type options struct {
	Hosts, Pages int
	Delay        time.Duration
	Dir          string
	Runs, Kills  int
	Crawlers     string
	Beside       string
	Bin          string
	Profile      string
	Keep         bool
}

func main() { proc.Main("heavy", run) }

func parseOptions(args []string) (o options, err error) {
	f := flag.NewFlagSet("heavy", flag.ContinueOnError)
	f.IntVar(&o.Hosts, "hosts", 2000, "`number` of hosts")
	f.IntVar(&o.Pages, "pages", 3, "`number` of pages of each host")
	f.DurationVar(&o.Delay, "delay", 10*time.Second, "least time between a response and the next request to its host")
	f.StringVar(&o.Dir, "dir", "", "`folder` with the pages, instead of generated ones")
	f.IntVar(&o.Runs, "runs", 1, "`number` of runs of each build")
	f.IntVar(&o.Kills, "kills", 2, "how `often` a crawl is killed with SIGKILL, and started again")
	f.StringVar(&o.Crawlers, "crawlers", "seine", "comma-separated `list` of crawlers, of: "+others.Names(all("")))
	f.StringVar(&o.Beside, "beside", "", "another `build` of seine, run in turn with this one")
	f.StringVar(&o.Bin, "bin", "", "`folder` with seine, built before; else it is built")
	f.StringVar(&o.Profile, "profile", "", "write a CPU profile of the last life of a crawl to this `file`")
	f.BoolVar(&o.Keep, "keep", false, "keep the work folder, and say where")
	if err := f.Parse(args); err != nil {
		return o, fmt.Errorf("read flags: %w", err)
	}
	switch {
	case f.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q", f.Arg(0))
	case o.Hosts < 1 || o.Hosts > 30_000:
		return o, errors.New("-hosts: from 1 to 30000")
	case o.Pages < 1 || o.Pages > 1000:
		return o, errors.New("-pages: from 1 to 1000")
	case o.Runs < 1 || o.Kills < 0:
		return o, errors.New("-runs: at least 1; -kills: at least 0")
	case o.Kills > 0 && o.Crawlers != "seine":
		return o, errors.New("-crawlers: only Seine continues after it was killed; add -kills 0")
	}
	_, err = others.Choose("-crawlers", o.Crawlers, all(""))
	return o, err
}

// all are the crawlers, with the Seine of a folder.
func all(bin string) []others.Crawler {
	return []others.Crawler{seine{"seine", filepath.Join(bin, "seine")}, others.Wget2{}, others.Colly{}, others.Scrapy{}, others.Crawlee{}}
}

// dirs are the folders of this module, in which it is run.
func (o options) dirs() others.Dirs {
	here, _ := os.Getwd()
	return others.Dirs{Bench: here, Root: filepath.Dir(here), Bin: filepath.Join(here, "bin")}
}

func run(ctx context.Context, args []string) error {
	o, err := parseOptions(args)
	if err != nil {
		return err
	}
	bodies, err := loadBodies(o)
	if err != nil {
		return err
	}
	return proc.InWorkFolder(ctx, "heavy", "", o.Keep, func(ctx context.Context, work string, _ context.CancelCauseFunc) error {
		if o.Bin, err = proc.Commands(ctx, work, o.Bin, "seine"); err != nil {
			return err
		}
		return compare(ctx, o, bodies, work)
	})
}

// compare runs the crawlers in turn, and prints a table.
func compare(ctx context.Context, o options, bodies []body, work string) error {
	crawlers, err := others.Choose("-crawlers", o.Crawlers, all(o.Bin))
	if err != nil {
		return err
	}
	if o.Beside != "" {
		crawlers = append(crawlers, seine{"beside", o.Beside})
	}
	for _, c := range crawlers {
		version, err := c.Prepare(ctx, o.dirs())
		if err != nil {
			return fmt.Errorf("prepare %s: %w", c.Name(), err)
		}
		fmt.Fprintf(os.Stderr, "%s: %s\n", c.Name(), version)
	}
	runs := make([][]result, len(crawlers))
	for range o.Runs {
		for i, c := range crawlers {
			r, err := crawl(ctx, o, bodies, work, c)
			if err != nil {
				return err
			}
			runs[i] = append(runs[i], r)
			fmt.Fprintln(os.Stderr, row([]result{r}))
		}
	}
	fmt.Printf("%d hosts, %d pages of each, mean size %.0f KB\n\n", o.Hosts, o.Pages, meanSize(bodies)/1e3)
	fmt.Println("| crawler | pages | CPU s | CPU ms/page | pages/CPU s | wall s | RSS MB | stored MB | connections/page | resumed | web's CPU ms/page | gaps below the delay | least gap s |")
	fmt.Println("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
	for _, r := range runs {
		fmt.Println(row(r))
	}
	fmt.Println()
	for _, r := range runs {
		fmt.Printf("- %s stores %s\n", r[0].crawler, r[0].about)
		if slices.ContainsFunc(r, func(r result) bool { return r.stalled }) {
			fmt.Printf("- %s stalled and was killed, in one run or more\n", r[0].crawler)
		}
	}
	return nil
}

func row(runs []result) string {
	cells := []string{runs[0].crawler}
	for _, c := range []struct {
		format string
		get    func(result) float64
	}{
		{"%.0f", func(r result) float64 { return float64(r.pages) }},
		{"%.2f", func(r result) float64 { return r.cpu }},
		{"%.2f", func(r result) float64 { return 1000 * r.cpu / float64(r.pages) }},
		{"%.0f", func(r result) float64 { return float64(r.pages) / r.cpu }},
		{"%.1f", func(r result) float64 { return r.wall.Seconds() }},
		{"%.0f", func(r result) float64 { return proc.MB(r.rss) }},
		{"%.1f", func(r result) float64 { return proc.MB(r.stored) }},
		{"%.2f", func(r result) float64 { return float64(r.handshakes) / float64(r.pages) }},
		{"%.2f", func(r result) float64 { return float64(r.resumed) / max(float64(r.handshakes), 1) }},
		{"%.2f", func(r result) float64 { return 1000 * r.webCPU / float64(r.pages) }},
		{"%.0f", func(r result) float64 { return float64(r.tooClose) }},
		{"%.2f", func(r result) float64 { return r.leastGap.Seconds() }},
	} {
		var values []float64
		for _, r := range runs {
			values = append(values, c.get(r))
		}
		cells = append(cells, summary.Spread(c.format, values))
	}
	return "| " + strings.Join(cells, " | ") + " |"
}

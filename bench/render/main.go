// Command render measures what pages cost that are shown in a browser: light pages by Seine's renderer beside a bare chromedp loop
// over the same pages, in turn; the speed and the memory of more and fewer tabs; and crawls that render never, where it
// helps (auto) and always, of a shop with many pages that need no browser and some that do. It prints Markdown tables.
//
//	cd bench && go run ./render                                # all of it
//	cd bench && go run ./render -phase light -rounds 7 -pages 400
//	cd bench && go run ./render -phase light -until load -browser-pages 1000000 -rounds 1 -cpuprofile render.pprof
//	cd bench && go run ./render -phase light -until load -windows
//	cd bench && go run ./render -phase light -until load -browser chromium
//	cd bench && go run ./render -phase tabs
//	cd bench && go run ./render -phase auto -delay 5ms -delay 100ms
//	cd bench && go run ./render -phase auto -delay 0s -per-host 4 -static 100 -mode never -mode auto -mode always
//
// The web is this process, which shares the cores with the browsers; what it costs is in its own CPU, for both alike. A page
// counts once its HTML is here and has the text that its script makes. Pages are counted after some that warm the browser
// up. It needs Linux, and Chromium on the PATH.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"seine/bench/proc"
	"seine/internal/render"
	"seine/pkg/crawlspec"
)

// options are the command line.
type options struct {
	Phases       []string
	Until        []string
	Browser      string
	Rounds       int
	Pages        int // of a round
	Tabs         int
	BrowserPages int
	Windows      bool
	Profile      string
	Bin          string
	Delays       []string
	Static       int
	App          []int
	Modes        []string
	PerHost      int
	Keep         bool
}

// phaseNames are all, in their order.
var phaseNames = []string{"light", "tabs", "auto", "kinds"}

func main() { proc.Main("render", run) }

func parseOptions(args []string) (o options, err error) {
	f := flag.NewFlagSet("render", flag.ContinueOnError)
	f.Func("phase", "measure this `phase` alone: light, tabs, auto or kinds; more than once for several; else all", list(&o.Phases))
	f.Func("until", "light: wait until `load` or idle; more than once for several; else for each", list(&o.Until))
	f.StringVar(&o.Browser, "browser", "", "light and tabs: `path` of the browser; else the first on the PATH")
	f.IntVar(&o.Rounds, "rounds", 5, "`number` of rounds")
	f.IntVar(&o.Pages, "pages", 400, "light, tabs and kinds: `number` of pages of a round")
	f.IntVar(&o.Tabs, "tabs", render.DefaultConfig().Tabs, "light: `number` of tabs")
	f.IntVar(&o.BrowserPages, "browser-pages", render.DefaultConfig().Pages, "light and tabs: `number` of pages after which Seine replaces its browser")
	f.BoolVar(&o.Windows, "windows", false, "light: give chromedp's tabs a window each, where they are painted as Seine's are")
	f.StringVar(&o.Profile, "cpuprofile", "", "light: write the CPU profile of this process while Seine's renderer works to a `file`")
	f.StringVar(&o.Bin, "bin", "", "auto: `folder` with seine and nats-server, built before; else they are built")
	f.Func("delay", "auto: the `time` between requests to the host; more than once for several; else 0s and 5ms", list(&o.Delays))
	f.IntVar(&o.Static, "static", 1000, "auto: `number` of pages that need no browser")
	f.Func("app", "auto: `number` of pages that do; more than once for several shops; else 50", func(text string) error {
		n, err := strconv.Atoi(text)
		o.App = append(o.App, n)
		return err
	})
	f.Func("mode", "auto: the `value` of --render; more than once for several; else never and auto", list(&o.Modes))
	f.IntVar(&o.PerHost, "per-host", 1, "auto: `number` of requests at a time to the host, where there is no delay")
	f.BoolVar(&o.Keep, "keep", false, "keep the work folder, and say where")
	if err := f.Parse(args); err != nil {
		return o, fmt.Errorf("read flags: %w", err)
	}
	setDefault(&o.Phases, phaseNames...)
	setDefault(&o.Until, string(crawlspec.UntilLoad), string(crawlspec.UntilIdle))
	setDefault(&o.Delays, "0s", "5ms")
	setDefault(&o.Modes, renderModes[:2]...)
	setDefault(&o.App, 50)
	if f.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	return o, o.check()
}

// list is a flag that may be given more than once.
func list(values *[]string) func(string) error {
	return func(value string) error {
		*values = append(*values, value)
		return nil
	}
}

func setDefault[T any](values *[]T, defaults ...T) {
	if len(*values) == 0 {
		*values = defaults
	}
}

func (o *options) check() error {
	if o.Rounds < 1 || o.Pages < 1 || o.Tabs < 1 || o.BrowserPages < 1 || o.Static < 1 || o.PerHost < 1 || slices.Min(o.App) < 0 {
		return errors.New("-rounds, -pages, -tabs, -browser-pages, -static, -per-host: from 1; -app: from 0")
	}
	for _, p := range o.Phases {
		if !slices.Contains(phaseNames, p) {
			return fmt.Errorf("-phase %s: must be one of %s", p, strings.Join(phaseNames, ", "))
		}
	}
	for _, m := range o.Modes {
		if !slices.Contains(renderModes, m) {
			return fmt.Errorf("-mode %s: must be one of %s", m, strings.Join(renderModes, ", "))
		}
	}
	for _, u := range o.Until {
		if u != string(crawlspec.UntilLoad) && u != string(crawlspec.UntilIdle) {
			return fmt.Errorf("-until %s: must be load or idle", u)
		}
	}
	for _, d := range o.Delays {
		if _, err := time.ParseDuration(d); err != nil {
			return fmt.Errorf("-delay: %w", err)
		}
	}
	return nil
}

func run(ctx context.Context, args []string) error {
	o, err := parseOptions(args)
	if err != nil {
		return err
	}
	return proc.InWorkFolder(ctx, "render", "", o.Keep, func(ctx context.Context, work string, _ context.CancelCauseFunc) error {
		phases := map[string]func(context.Context, string) error{"light": o.light, "tabs": o.tabs, "auto": o.auto, "kinds": o.kinds}
		for _, name := range o.Phases {
			if err := phases[name](ctx, work); err != nil {
				return fmt.Errorf("phase %s: %w", name, err)
			}
		}
		return nil
	})
}

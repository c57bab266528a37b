package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"seine/internal/base/safeprint"
	"seine/internal/render"
	"seine/internal/run/process"
	"seine/internal/run/specfile"
	"seine/internal/run/trial"
	"seine/pkg/crawlspec"
)

type extractCmd struct {
	Page string `arg:"" name:"url-or-file" help:"Page to read: a URL, a file, or - for standard input."`

	Spec   string `help:"Spec (YAML) with the rules. Without it, show the page's record." placeholder:"FILE"`
	URL    string `name:"url" help:"URL of the page in a file." placeholder:"URL"`
	Type   string `help:"Type of the file: html, xml, json, feed, csv, text, or a media type (default: from its name and content)." placeholder:"TYPE"`
	Watch  bool   `short:"w" help:"Update the output whenever the spec or the file changes."`
	Strict bool   `help:"Exit with code 1 if a rule fails, such as a required field that is missing, or if there is no record."`
	JSON   bool   `name:"json" help:"Print one JSON object, as when the output is not a terminal."`
	Full   bool   `help:"Show long values and all links in full."`

	AllowPrivate *bool                 `help:"Allow requests to loopback and private addresses."`
	Robots       *crawlspec.Robots     `help:"robots.txt: obey or ignore (default obey)." placeholder:"obey"`
	Render       *crawlspec.RenderMode `help:"Render the page in a browser before parsing: never, auto or always (default never)." placeholder:"auto"`
	Browser      render.Config         `embed:""`
	UserAgent    *string               `help:"User-Agent header to send." placeholder:"TEXT"`
	Secrets      string                `help:"Directory with one file for each {secret:NAME} of the spec. The environment variable SEINE_SECRET_NAME takes precedence." placeholder:"DIR"`
}

// Help is shown below the list of flags.
func (c *extractCmd) Help() string {
	return `Prints the records that the rules extract from one page, the links that a crawl would follow, missing values, and for each rule
whether it applied or why not. A URL is fetched as in a crawl, with robots.txt, address checks and the host's delay.

Examples:

  seine extract https://example.org/p/1 --spec spec.yaml
  seine extract page.html --url https://example.org/p/1 --spec spec.yaml --watch
  curl -s https://example.org/api | seine extract - --type json --url https://example.org/api --spec spec.yaml

Exit codes: 0 printed, 1 the page cannot be read (with --strict, also a failed rule or no record), 2 wrong usage or invalid spec.`
}

// Run shows the page once or, with --watch, repeatedly.
func (c *extractCmd) Run() error {
	ctx, stop := process.Signals(context.Background(), os.Stderr)
	defer stop()
	if !c.Watch {
		return c.once(ctx)
	}
	if c.Page == "-" {
		return usageError{errors.New("--watch cannot read standard input again: give a file")}
	}
	return c.watch(ctx)
}

// once gets the page and shows the result.
func (c *extractCmd) once(ctx context.Context) error {
	spec, err := c.spec()
	if err != nil {
		return usageError{err}
	}
	got, err := c.get(ctx, spec)
	if err != nil {
		return err
	}
	found, err := trial.Apply(ctx, &got.Fetched, spec)
	if err != nil {
		return err
	}
	if err := c.show(found); err != nil {
		return err
	}
	if c.Strict && (len(found.Problems) > 0 || len(found.Records) == 0) {
		return endError(exitFailed)
	}
	return nil
}

// spec returns the spec to try.
func (c *extractCmd) spec() (*crawlspec.Spec, error) {
	spec := new(crawlspec.Default())
	if c.Spec != "" {
		var err error
		if spec, err = specfile.Read(c.Spec); err != nil {
			return nil, fmt.Errorf("--spec: %w", err)
		}
	}
	if c.AllowPrivate != nil {
		spec.AllowPrivate = *c.AllowPrivate
	}
	if c.Robots != nil {
		spec.Robots = *c.Robots
	}
	if c.UserAgent != nil {
		spec.UserAgent = *c.UserAgent
	}
	if c.Render != nil {
		spec.SetRender(*c.Render)
	}
	return spec, spec.Validate()
}

func (c *extractCmd) show(found *trial.Result) error {
	if c.JSON || !isTerminal(os.Stdout) {
		return printJSON(found)
	}
	s := screen{w: os.Stdout, width: widthOf(os.Stdout), colour: colours(os.Stdout), full: c.Full}
	s.show(found)
	return nil
}

// watchEvery is how often the files are checked for changes.
const watchEvery = 300 * time.Millisecond

// watch shows the page whenever a file has changed, until ctx is done. It fetches a URL once, and
// again only after a failure.
func (c *extractCmd) watch(ctx context.Context) error {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	var had *fetched
	for was := (stamp{}); ; {
		if now := c.stamp(); now != was {
			was = now
			c.again(ctx, &had)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// again shows the page again, or an error.
func (c *extractCmd) again(ctx context.Context, had **fetched) {
	if isTerminal(os.Stdout) && !c.JSON {
		safeprint.Fprint(os.Stdout, safeprint.Trusted(clearScreen))
	}
	spec, err := c.spec()
	if err == nil && (*had == nil || (*had).file != "") {
		*had, err = c.get(ctx, spec)
	}
	var found *trial.Result
	if err == nil {
		found, err = trial.Apply(ctx, &(*had).Fetched, spec)
	}
	if err == nil {
		err = c.show(found)
	}
	if err != nil && ctx.Err() == nil {
		tell(os.Stderr, err)
	}
}

// clearScreen clears a terminal and its scrollback (ECMA-48 8.3.39).
const clearScreen = "\x1b[H\x1b[2J\x1b[3J"

// stamp identifies a state of the files.
type stamp struct {
	spec, page         time.Time
	specSize, pageSize int64
}

func (c *extractCmd) stamp() stamp {
	var s stamp
	s.spec, s.specSize = changed(c.Spec)
	if !isURL(c.Page) {
		s.page, s.pageSize = changed(c.Page)
	}
	return s
}

// changed returns the modification time and size of a file; zero and -1 if there is none, for
// example while an editor replaces it.
func changed(name string) (time.Time, int64) {
	i, err := os.Stat(name)
	if err != nil {
		return time.Time{}, -1
	}
	return i.ModTime(), i.Size()
}

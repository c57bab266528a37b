package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"seine/internal/ops/history"
	"seine/pkg/stages"
	"seine/pkg/stages/frontier/frontierapi"
	"seine/pkg/stages/writer"
)

type explainCmd struct {
	URL string `arg:"" help:"The URL to explain."`
	connection
	crawlName
	Within time.Duration `help:"Search for messages this long before and after each visit." default:"1m" placeholder:"TIME"`
	Out    string        `help:"Also list the files of this output that have records of the URL." placeholder:"PLACE"`
	outputFlags
	Brief bool `help:"Print only what the frontier stores. This needs no permission to read the streams."`
	JSON  bool `name:"json" help:"Print one JSON object."`
}

// Help is shown below the list of flags.
func (c *explainCmd) Help() string {
	return `Examples:

  seine explain --crawl news https://example.org/a
  seine explain https://example.org/a --out ./seine-out    # also list the output file
  seine explain https://example.org/a --out ./warc         # also list the position in an archive
  seine explain https://example.org/a --json | jq .pages`
}

// Run finds the history of the URL.
func (c *explainCmd) Run() error {
	if err := c.check(); err != nil {
		return err
	}
	if c.Within <= 0 {
		return usageError{fmt.Errorf("--within %s: must be positive", c.Within)}
	}
	q := history.Options{URL: c.URL, Within: c.Within, Brief: c.Brief}
	if c.Brief && c.Out != "" {
		return usageError{errors.New("--out prints records of the URL, --brief omits them: use one of them")}
	}
	if c.Out != "" {
		out, err := c.open(c.Out)
		if err != nil {
			return fmt.Errorf("--out: %w", err)
		}
		defer out.Close()
		q.Out = &out
		if writer.IsDatabase(c.Out) {
			q.TableOf = func(kind string) string { return writer.TableOf(c.Out, kind) }
		}
	}
	return c.readOnly("explain", func(ctx context.Context, bus *stages.Bus) error {
		err := c.chooseBy(ctx, bus, func(crawl string) bool {
			e, err := frontierapi.Client{Bus: bus}.Explain(ctx, crawl, c.URL)
			return err == nil && e.Known
		})
		if err != nil {
			return err
		}
		q.Crawl = c.Name
		h, err := history.Find(ctx, bus, q)
		if errors.Is(err, history.ErrNotURL) {
			return usageError{err}
		}
		if err != nil {
			return err
		}
		if !h.Known && len(h.Dead) == 0 { // the crawl may not exist: others may know the URL
			err = checkThere(ctx, bus, c.Name)
		}
		switch {
		case err != nil && len(h.Near) == 0:
			return err
		case c.JSON:
			return errors.Join(err, printJSON(h))
		}
		return errors.Join(err, h.Write(os.Stdout))
	})
}

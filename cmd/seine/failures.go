package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"

	"seine/internal/base/safeprint"
	"seine/internal/ops/failures"
	"seine/pkg/stages"
	"seine/pkg/stages/frontier/frontierapi"
)

type failuresCmd struct {
	connection
	crawlName
	Class string `help:"Only failures of this class, such as timeout, server_error, parse_error or host_given_up." placeholder:"CLASS"`
	Host  string `help:"Only URLs of this host, with its port as in the URL." placeholder:"HOST"`
	Limit int    `help:"List at most N URLs; 0 lists all." default:"100"`
	JSON  bool   `name:"json" help:"Print one JSON object per URL."`
}

// Help is shown below the list of flags.
func (c *failuresCmd) Help() string {
	return `Lists the URLs whose last visit failed. To retry them, use seine seed --failures-of. Examples:

  seine failures --crawl news
  seine failures --crawl news --class timeout --host slow.example.org
  seine seed --crawl news --failures-of news --class timeout      # retry these`
}

// Run lists failed URLs.
func (c *failuresCmd) Run() error {
	if c.Limit < 0 {
		return usageError{fmt.Errorf("--limit %d: must not be negative", c.Limit)}
	}
	if c.Class != "" {
		if err := frontierapi.CheckFailure(c.Class); err != nil {
			return usageError{fmt.Errorf("--class: %w", err)}
		}
	}
	return c.readOnly("failures", func(ctx context.Context, bus *stages.Bus) error {
		err := c.chooseBy(ctx, bus, func(crawl string) bool {
			n, err := frontierapi.Client{Bus: bus}.Status(ctx, crawl)
			return err == nil && n.Failed > 0
		})
		if err != nil {
			return err
		}
		if err := checkThere(ctx, bus, c.Name); err != nil {
			return err
		}
		const all = 1 << 40
		found, err := failures.Find(ctx, bus, failures.Query{Crawl: c.Name, Class: c.Class, Host: c.Host, Look: all, Keep: cmp.Or(c.Limit, all)})
		if err != nil {
			return err
		}
		return c.show(found)
	})
}

func (c *failuresCmd) show(found *failures.Found) error {
	if c.JSON {
		return printLines(found.URLs)
	}
	if len(found.URLs) == 0 {
		match := ""
		if c.Class+c.Host != "" {
			match = " that match"
		}
		safeprint.Fprintln(os.Stderr, "crawl "+c.Name+" has no failed URLs"+match)
		return nil
	}
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	safeprint.Fprintf(t, "CLASS\tURL\tREASON\n")
	for i := range found.URLs {
		u := &found.URLs[i]
		safeprint.Fprintf(t, "%s\t%s\t%s\n", u.Class, u.URL, strings.TrimPrefix(u.Reason, u.Class+": "))
	}
	if more := found.Matched - len(found.URLs); more > 0 {
		safeprint.Fprintf(t, "… and %d more (--limit 0 lists all)\n", more)
	}
	return t.Flush()
}

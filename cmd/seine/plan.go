package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"seine/internal/base/humanize"
	"seine/internal/base/safeprint"
	"seine/internal/run/connect"
	"seine/internal/run/crawl"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/frontier/frontierapi"
)

// plan prints what would be fetched and where the output would go. A crawl that resumes uses its
// stored spec; begins says that there are URLs to start with.
func (c *crawlCmd) plan(seeds []messages.Seed, begins bool) error {
	have, urls, err := c.stored(begins)
	if err != nil {
		return err
	}
	spec, err := c.spec(have)
	if err != nil {
		return usageError{err}
	}
	begun := urls.Known() > 0
	first := crawl.URLsOf(seeds)
	for _, u := range spec.SeedURLs() {
		if !slices.Contains(first, u) {
			first = append(first, u)
		}
	}
	if len(first) == 0 && !begun {
		return usageError{errors.New("--dry-run needs a URL, seeds in the spec, or the --data and --crawl of an earlier one")}
	}
	o, err := c.options(seeds)
	if err != nil {
		return usageError{err}
	}
	safeprint.Printf("crawl %s, with its state in %s\n", c.Name, c.Data)
	if begun {
		safeprint.Printf("would resume with %s open of %s known\n", humanize.Plural(urls.Pending(), "URL"), humanize.Count(urls.Known()))
	}
	crawl.WriteDryRun(os.Stdout, first, spec, begun)
	safeprint.Println("and write these records:")
	writeRecords(os.Stdout, spec)
	warnOfIneffective(os.Stdout, spec)
	if err := o.Writer.WriteDryRunOf(os.Stdout, o.Crawl); err != nil {
		return err
	}
	for i := range o.More {
		if err := o.More[i].WriteDryRunOf(os.Stdout, o.Crawl); err != nil {
			return fmt.Errorf("%s: %w", crawl.FlagOf(&o.More[i]), err)
		}
	}
	return nil
}

// stored returns the spec stored in --data, or the default for a new crawl, and the counts of its
// URLs.
func (c *crawlCmd) stored(begins bool) (spec crawlspec.Spec, urls frontierapi.Counters, err error) {
	spec = crawlspec.Default()
	at := connection{Operator: connect.Operator{Data: c.Data}}
	if c.NATS.Given() || at.Stored() == "" {
		return spec, urls, nil
	}
	err = at.with("crawl", func(ctx context.Context, bus *stages.Bus) error {
		of := crawlName{c.Name}
		if begins {
			of.Name = cmp.Or(of.Name, messages.DefaultCrawl)
		}
		if err := of.choose(ctx, bus); err != nil {
			return err
		}
		c.Name = of.Name
		_, have, err := specOf(ctx, bus, c.Name)
		if err != nil {
			return err
		}
		spec = *have.Spec
		status, err := frontierapi.Client{Bus: bus}.Status(ctx, c.Name)
		urls = status.Counters
		return err
	})
	return spec, urls, err
}

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"seine/internal/output"
)

type manifestCmd struct {
	Out   string `arg:"" help:"Directory of the output, or s3://BUCKET/PREFIX." default:"./seine-out"`
	Crawl string `help:"Only this crawl." placeholder:"NAME"`
	Write bool   `help:"Store each manifest as _manifests/WRITER/CRAWL.json of the output instead of printing it."`
	outputFlags
}

// Help is shown below the list of flags.
func (c *manifestCmd) Help() string {
	return `Prints the files with sizes and SHA-256, sequence numbers by partition, and counts, from the commit log. Examples:

  seine manifest ./seine-out --crawl mycrawl > mycrawl.json
  seine manifest s3://pages/crawls --write`
}

// Run prints manifests, or stores them.
func (c *manifestCmd) Run() error {
	o, err := c.open(c.Out)
	if err != nil {
		return err
	}
	store, ok := o.Log.(output.ManifestStore)
	if !ok {
		return usageError{fmt.Errorf("%s: has no manifests", c.Out)}
	}
	made, err := output.NewManifests(o.Log, o.Name(), os.TempDir())
	if err != nil {
		return err
	}
	defer made.Close()
	if err := made.Update(func() error { return nil }); err != nil {
		return err
	}
	crawls := made.Crawls()
	switch {
	case len(crawls) == 0:
		return fmt.Errorf("%s: has no commits", c.Out)
	case c.Crawl != "" && !slices.Contains(crawls, c.Crawl):
		return usageError{fmt.Errorf("--crawl %s: has no commits there; these crawls have: %s", c.Crawl, strings.Join(crawls, ", "))}
	case c.Crawl != "":
		crawls = []string{c.Crawl}
	}
	for _, crawl := range crawls {
		if err := c.one(made, store, crawl); err != nil {
			return err
		}
	}
	return nil
}

func (c *manifestCmd) one(made *output.Manifests, store output.ManifestStore, crawl string) error {
	if c.Write {
		return made.Store(store, crawl, false)
	}
	head, ok := made.Head(crawl)
	if !ok {
		return errors.New("it is gone")
	}
	head.Complete = made.WasComplete(store, head)
	text, err := made.Encode(head)
	if err != nil {
		return err
	}
	_, err = io.Copy(dataOut(), text)
	return err
}

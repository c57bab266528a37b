package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"seine/internal/base/humanize"
	"seine/internal/base/safeprint"
	"seine/internal/output"
	"seine/internal/run/process"
)

type verifyCmd struct {
	Out      string   `arg:"" help:"Directory of the output, or s3://BUCKET/PREFIX." default:"./seine-out"`
	Manifest string   `help:"Compare the files with this manifest instead of the commit log." placeholder:"FILE"`
	Crawl    string   `help:"Only files of this crawl." placeholder:"NAME"`
	Deleted  []string `env:"-" help:"Crawl whose output you deleted: ignore its missing files, now and in later runs of seine verify. Repeatable." placeholder:"NAME"`
	outputFlags
}

// Help is shown below the list of flags.
func (c *verifyCmd) Help() string {
	return `Reads every committed file, encrypted or not; no key is needed. Reports files that are missing, changed, unreadable or not committed,
and commit log entries that are unreadable, duplicate, or missing although a manifest has them. Examples:

  seine verify ./seine-out
  seine verify /mnt/copy --manifest seine-out/_manifests/default/mycrawl.json

Exit codes: 0 no faults, 1 faults, 2 wrong usage.`
}

// Run verifies an output.
func (c *verifyCmd) Run() error {
	if c.Manifest != "" && c.Crawl != "" {
		return usageError{errors.New("--crawl: a manifest belongs to one crawl: omit it")}
	}
	o, want, err := c.expected()
	if err != nil {
		return err
	}
	want.SkipDeleted(c.Deleted)
	ctx, stop := process.Signals(context.Background(), os.Stderr)
	defer stop()
	r, err := o.Check(ctx, want)
	for _, p := range r.Problems {
		safeprint.Printf("%-10s %s: %v\n", p.Kind, p.Path, p.Why)
	}
	if err != nil {
		return err
	}
	safeprint.Printf("%s, %s, %s in %s", humanize.Plural(r.Files, "file"), humanize.Plural(r.Records, "record"), humanize.Size(r.Bytes), humanize.Plural(r.Commits, "commit"))
	if r.Pending > 0 {
		safeprint.Printf(", %s not committed yet", humanize.Count(int64(r.Pending)))
	}
	if r.Merging > 0 {
		safeprint.Printf(", %s of a seine compact that did not end, to be removed by the next one", humanize.Plural(r.Merging, "file"))
	}
	if r.Decrypted > 0 {
		safeprint.Printf(", %s decrypted beside them, not checked", humanize.Count(int64(r.Decrypted)))
	}
	if len(r.Removed) > 0 {
		safeprint.Printf(", without the missing files of deleted crawls (%s)", humanize.ByCount(r.Removed))
		c.recordDeleted(o, r.Removed)
	}
	if len(r.Problems) > 0 {
		defer c.explainDeleted(r.AsDeleted)
		safeprint.Printf(": %s wrong\n", humanize.Count(int64(len(r.Problems))))
		return endError(exitFailed)
	}
	if r.Commits == 0 {
		safeprint.Println(": nothing was committed there")
		return nil
	}
	safeprint.Println(": all as committed")
	return nil
}

// recordDeleted records the crawls of --deleted in the output.
func (c *verifyCmd) recordDeleted(o output.Output, removed map[string]int64) {
	named := slices.DeleteFunc(slices.Clone(c.Deleted), func(crawl string) bool { return removed[crawl] == 0 })
	if err := o.RecordDeletions(named); err != nil {
		safeprint.Fprintf(os.Stderr, "seine: cannot record the deletion, so the next seine verify needs --deleted again: %v\n", err)
	}
}

// explainDeleted prints a remedy for crawls whose files are missing as after a deletion.
func (c *verifyCmd) explainDeleted(crawls []string) {
	for _, crawl := range crawls {
		safeprint.Fprintf(os.Stderr, "seine: if you deleted the output of crawl %[1]s, add --deleted %[1]s once to ignore its missing files\n", crawl)
	}
}

// expected returns the output and its expected files.
func (c *verifyCmd) expected() (o output.Output, want *output.Expected, err error) {
	if c.Manifest == "" {
		if o, err = c.open(c.Out); err != nil {
			return o, nil, err
		}
		if want, err = o.Expect(c.Crawl); err == nil {
			o.ExpectManifested(want)
			err = checkCommitted(c.Crawl, c.Out, want)
		}
		return o, want, err
	}
	f, err := os.Open(c.Manifest)
	if err != nil {
		return o, nil, usageError{err}
	}
	defer f.Close()
	m, err := output.ReadManifest(f)
	if err != nil {
		return o, nil, usageError{fmt.Errorf("--manifest %s: %w", c.Manifest, err)}
	}
	if want, err = m.Expect(); err != nil {
		return o, nil, usageError{fmt.Errorf("--manifest %s: %w", c.Manifest, err)}
	}
	o, err = c.openOf(m.Writer, c.Out) // its log may be missing
	return o, want, err
}

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"seine/internal/base/humanize"
	"seine/internal/base/safeprint"
	"seine/internal/output"
	"seine/internal/output/bucket"
	"seine/internal/run/process"
	"seine/pkg/messages"
	"seine/pkg/stages/writer"
)

type exportCmd struct {
	From    string         `arg:"" help:"Directory of the output, or s3://BUCKET/PREFIX." default:"./seine-out"`
	FromS3  bucket.Options `embed:"" prefix:"from-s3-"`
	To      string         `help:"Directory to export to, or s3://BUCKET/PREFIX." xor:"to" placeholder:"DIR"`
	Single  string         `env:"-" help:"Instead, write one file of all records, such as items.csv: its name says the format. An existing file is replaced." xor:"to" placeholder:"FILE"`
	Format  string         `help:"Output format, as in seine crawl --format (default jsonl.zst)." placeholder:"NAME"`
	Path    string         `help:"Directory template of the files, with {crawl}, {kind}, {date}, {hour}, {date:ZONE}, {hour:ZONE}, {run}, {host}, {partition} and {field:NAME} (default {crawl}; {crawl}/{kind} for CSV and Parquet)." placeholder:"TEMPLATE"`
	Key     string         `help:"Path template of each object, with --format objects." placeholder:"TEMPLATE"`
	CSVBOM  bool           `name:"csv-bom" help:"Start each CSV file with a byte order mark, so that Excel reads it as UTF-8."`
	CSVSafe bool           `name:"csv-safe" help:"In CSV, prefix values that a spreadsheet would run as a formula with an apostrophe."`
	Encrypt []string       `help:"Encrypt files for this recipient: an age or SSH public key, or @FILE with keys. Repeatable." sep:"none" placeholder:"RECIPIENT"`
	S3      bucket.Options `embed:"" prefix:"s3-"`
	Crawl   string         `help:"Only records of this crawl." placeholder:"NAME"`
	Kind    string         `help:"Only records of this kind." placeholder:"NAME"`
	Columns []string       `env:"-" help:"With --single of CSV: as in seine cat --columns." placeholder:"NAME"`
	Latest  bool           `env:"-" help:"With --single: as in seine cat --latest."`
	RunOnly string         `name:"run" env:"-" help:"With --single: as in seine cat --run." placeholder:"RUN"`
	Quiet   bool           `short:"q" help:"Do not show progress."`
	identities
}

// Help is shown below the list of flags.
func (c *exportCmd) Help() string {
	return `Exports each commit once. Run the command again to resume, or to export what was committed since. A destination holds the export of
one output, with one --crawl, --kind and format. All records are exported, unless --single goes with --latest or --run.
Examples:

  seine export ./seine-out --to ./by-kind --format jsonl.gz --path '{crawl}/{kind}'
  seine export s3://pages/crawls --to ./games --format objects --key '{field:season}/{key}.json' --kind game
  seine export ./secret --identity key.txt --to ./plain
  seine export ./seine-out --kind product --latest --single products.csv`
}

// Run exports.
func (c *exportCmd) Run() error {
	switch {
	case c.Single != "":
		return c.single()
	case c.To == "":
		return usageError{errors.New("--to=DIR or --single=FILE is required")}
	}
	if c.Latest || c.RunOnly != "" || len(c.Columns) > 0 {
		return usageError{errors.New("--latest, --run and --columns: choose records for --single FILE; --to copies all commits, as they are")}
	}
	o, err := c.options()
	if err != nil {
		return usageError{err}
	}
	if err := c.checkCrawl(); err != nil {
		return err
	}
	show := newStatusLine(os.Stderr, c.Quiet)
	show.last = time.Now() // a short export shows no progress
	o.Progress = func(t writer.ExportTotals) {
		show.update(func() string { return "" }, func() string { return exportLine(t) })
	}
	o.Log = process.Logging{LogLevel: "warn", LogFormat: "text"}.Logger(os.Stderr)
	ctx, stop := process.Signals(context.Background(), os.Stderr)
	defer stop()
	t, err := writer.Export(ctx, o)
	show.done()
	if errors.Is(err, context.Canceled) {
		safeprint.Printf("interrupted after %d of %s; run the same command again to resume\n", t.Done+t.Before, humanize.Plural(t.Commits, "commit"))
		return endError(exitInterrupted)
	}
	if err != nil {
		return err
	}
	safeprint.Println(exportEnd(t, c.To, c.Kind))
	return nil
}

// checkCrawl rejects a crawl that is not in FROM, before --to is bound to it.
func (c *exportCmd) checkCrawl() error {
	if c.Crawl == "" || writer.IsDatabase(c.From) {
		return nil
	}
	source, err := writer.OpenOutput(c.From, "", c.FromS3)
	if err != nil {
		return err
	}
	there, err := source.Expect("")
	if err != nil {
		return err
	}
	return checkCommitted(c.Crawl, c.From, there)
}

func exportEnd(t writer.ExportTotals, to, kind string) string {
	switch {
	case t.Commits == 0:
		return "nothing to do: nothing is committed there"
	case t.Done == 0:
		return fmt.Sprintf("nothing to do: all %s are in %s", humanize.Plural(t.Commits, "commit"), to)
	}
	if t.Records == 0 && kind != "" {
		return fmt.Sprintf("exported nothing of %s: no record is of --kind %s", humanize.Plural(t.Done, "commit"), kind)
	}
	s := fmt.Sprintf("exported %s of %s to %s: %s, %s", humanize.Plural(t.Records, "record"), humanize.Plural(t.Done, "commit"), to,
		humanize.Plural(t.Files, "file"), humanize.Size(t.Bytes))
	if t.Before > 0 {
		s += fmt.Sprintf("; %s of earlier runs were there", humanize.Plural(t.Before, "commit"))
	}
	return s
}

func (c *exportCmd) options() (writer.ExportOptions, error) {
	ids, err := c.read()
	if err != nil {
		return writer.ExportOptions{}, err
	}
	if err := checkPath(c.From); err != nil {
		return writer.ExportOptions{}, err
	}
	if c.Crawl != "" {
		if err := messages.CheckCrawl(c.Crawl); err != nil {
			return writer.ExportOptions{}, fmt.Errorf("--crawl: %w", err)
		}
	}
	if c.S3 != (bucket.Options{}) && !bucket.Is(c.To) && bucket.Is(c.From) {
		return writer.ExportOptions{}, fmt.Errorf("--s3-…: is for a --to that begins with %s; the flags for reading %s begin with --from-s3-, as --from-s3-endpoint", bucket.Scheme, c.From)
	}
	to := writer.OutputConfig{Out: c.To, Format: c.Format, Path: c.Path, Key: c.Key, CSVBOM: c.CSVBOM, CSVSafe: c.CSVSafe, Encrypt: c.Encrypt, S3: c.S3}
	if stem, name := writer.FileMeant(c.To); name != "" && !bucket.Is(c.To) {
		return writer.ExportOptions{}, fmt.Errorf("--to %s: is a directory of files: for one file, write --single %s.%s; for many, --to %s --format %s", c.To, stem, name, stem, name)
	}
	if err := to.Validate(); err != nil {
		return writer.ExportOptions{}, asTo(err)
	}
	if err := c.FromS3.Validate(c.From); err != nil {
		return writer.ExportOptions{}, asFrom(err)
	}
	return writer.ExportOptions{
		From: c.From, FromS3: c.FromS3, Identities: ids, To: to,
		Filter: output.Filter{Crawl: c.Crawl, Kind: c.Kind},
	}, nil
}

// renamed is an error whose flag is renamed to this command's name for it.
type renamed struct {
	error
	from, to string
}

func (r renamed) Error() string { return strings.ReplaceAll(r.error.Error(), r.from, r.to) }
func (r renamed) Unwrap() error { return r.error }

func asTo(err error) error   { return renamed{err, "--out", "--to"} }
func asFrom(err error) error { return renamed{renamed{err, "--s3-", "--from-s3-"}, "--out", "FROM"} }

// exportLine describes the progress of an export.
func exportLine(t writer.ExportTotals) string {
	return fmt.Sprintf("%d of %s  %s  %s", t.Done+t.Before, humanize.Plural(t.Commits, "commit"), humanize.Plural(t.Records, "record"), humanize.Size(t.Bytes))
}

package main

import (
	"context"
	"errors"
	"os"

	"seine/internal/base/humanize"
	"seine/internal/base/safeprint"
	"seine/internal/run/process"
	"seine/pkg/stages/writer"
)

type compactCmd struct {
	Out string `arg:"" help:"Directory of the output, or s3://BUCKET/PREFIX." default:"./seine-out"`
	outputFlags
}

// Help is shown below the list of flags.
func (c *compactCmd) Help() string {
	return `Merges consecutive small files of each directory into files of up to 256 MiB of records, before compression, with the
columns of all, in the order of all; each row group of Parquet is sorted by URL. It can run during a crawl, and again after a kill.
Programs that read the files meanwhile find some missing, and must read the commit log or the manifest again. Encrypted files, archives
and objects stay as they are. Examples:

  seine compact ./seine-out
  seine compact s3://pages/crawls --s3-region eu-central-1`
}

// Run compacts.
func (c *compactCmd) Run() error {
	o, err := c.open(c.Out)
	if err != nil {
		return err
	}
	if err := o.Close(); err != nil {
		return err
	}
	ctx, stop := process.Signals(context.Background(), os.Stderr)
	defer stop()
	t, err := writer.Compact(ctx, writer.CompactOptions{
		Out: c.Out, Name: c.Writer, S3: c.s3(c.Out), Log: process.Logging{LogLevel: "warn", LogFormat: "text"}.Logger(os.Stderr),
	})
	if errors.Is(err, context.Canceled) {
		safeprint.Println("interrupted; run the same command again to continue")
		return endError(exitInterrupted)
	}
	if err != nil {
		return err
	}
	if t.Made == 0 {
		safeprint.Printf("nothing to merge: %s\n", humanize.Plural(t.Left, "file"))
		return nil
	}
	safeprint.Printf("merged %s into %s, %s; left %s as they are\n", humanize.Plural(t.Merged, "file"), humanize.Count(int64(t.Made)),
		humanize.Size(t.Bytes), humanize.Count(int64(t.Left)))
	return nil
}

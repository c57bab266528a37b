package writer

import (
	"fmt"
	"io"
	"strings"
	"time"

	"seine/internal/base/safeprint"
	"seine/internal/output"
	"seine/internal/output/ageencrypt"
	"seine/internal/output/bucket"
	"seine/internal/output/dir"
	"seine/internal/output/format"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// CheckPlace returns an error if the destination is unreachable, not writable for this user, or
// belongs to another writer. It creates nothing there.
func (c *Config) CheckPlace() error {
	switch {
	case IsDatabase(c.Out):
		return nil // a check would create its tables
	case bucket.Is(c.Out):
		return bucket.Check(c.Out, c.Name, c.S3)
	}
	return dir.Check(c.Out, c.Name)
}

// WriteDryRun checks the destination, and prints what would be written where.
func (c *Config) WriteDryRun(w io.Writer) error { return c.WriteDryRunOf(w, "CRAWL") }

// WriteDryRunOf is WriteDryRun for one crawl, whose name is part of paths.
func (c *Config) WriteDryRunOf(w io.Writer, crawl string) error {
	if err := c.Validate(); err != nil {
		return err
	}
	if bucket.Is(c.Out) {
		safeprint.Fprintf(w, "checking %s with read requests\n", c.Out)
	}
	if err := c.CheckPlace(); err != nil {
		return err
	}
	row := func(name, format string, a ...any) {
		safeprint.Fprintf(w, "  %-9s "+format+"\n", append([]any{name}, a...)...)
	}
	byPace := c.ChunkAge == 0
	d := c.withDefaults()
	c = &d
	age := c.ChunkAge.String()
	if byPace && c.ChunkAge < crawlspec.Duration(maxAge) {
		age += fmt.Sprintf(" (of %s if that is less than %s)", crawlspec.Duration(maxAge), crawlspec.Bytes(slowBytes))
	}
	if IsDatabase(c.Out) {
		safeprint.Fprintf(w, "would write %s as rows\n", c.From)
		row("to", "%s, which a dry run does not contact", Redact(c.Out))
		row("each", "transaction has up to %d records or %s, or all of %s", c.ChunkRecords, c.ChunkBytes, c.ChunkAge)
		return nil
	}
	safeprint.Fprintf(w, "would write %s as %s\n", c.From, c.format())
	row("to", "%s", c.Out)
	f, err := newFileLayout(&c.OutputConfig, nil)
	if err != nil {
		return err
	}
	row("as", "%s", f.example(crawl))
	if f.body != nil {
		row("each", "one record; a later one of the same path replaces it")
		row("commits", "after %d records, %s or %s", min(c.ChunkRecords, maxObjects), c.ChunkBytes, c.ChunkAge)
	} else {
		row("each", "file has up to %d records or %s, or all of %s", c.ChunkRecords, c.ChunkBytes, age)
	}
	to, err := ageencrypt.ParseRecipients(c.Encrypt)
	if err != nil {
		return err
	}
	if to.Any() {
		row("encrypted", "for %s", strings.Join(c.Encrypt, ", "))
	} else {
		row("encrypted", "no")
	}
	row("log", "%s/%s/", output.CommitsDir, c.Name)
	row("manifest", "%s", output.ManifestPath(c.Name, crawl))
	return nil
}

// example returns the path of a file of a crawl, with placeholders for fields of a record.
func (f *fileLayout) example(crawl string) string {
	stored := time.Now()
	n := output.Name{StreamCreated: output.CreatedStamp(stored), First: 1}
	rec := &format.Record{Kind: messages.KindPage, Stored: stored}
	if f.body == nil {
		return f.group(crawl, rec, 0).Dir + "/" + n.String() + "." + f.ext(f.format.Ext(), crawl, stored)
	}
	return f.key.String() + f.body.Ext()
}

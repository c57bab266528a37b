package writer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"seine/internal/output/bucket"
	"seine/internal/output/postgres"
	"seine/internal/output/sqlite"
	"seine/internal/output/sqlsink"
	"seine/pkg/crawlspec"
)

// IsDatabase reports whether out names a database, in which records are rows.
func IsDatabase(out string) bool { return sqlite.Is(out) || postgres.Is(out) }

// Run is a row of the runs table of a database.
type Run = sqlsink.Run

// SetRuns stores the figures of runs of crawls in a database. It creates missing tables. See
// IsDatabase for the valid values of out.
func SetRuns(ctx context.Context, out string, runs []Run) error {
	if postgres.Is(out) {
		return postgres.SetRuns(ctx, out, runs)
	}
	return sqlite.SetRuns(ctx, out, runs)
}

// TableOf returns the name of the table or view with the records of a kind.
func TableOf(out, kind string) string {
	if postgres.Is(out) {
		return postgres.Table(out, sqlsink.TableOf(kind))
	}
	return sqlsink.TableOf(kind)
}

// Directory returns the local directory of the output, "" if the output is elsewhere.
func (c *OutputConfig) Directory() string {
	switch {
	case sqlite.Is(c.Out):
		return filepath.Dir(sqlite.File(c.Out))
	case postgres.Is(c.Out), bucket.Is(c.Out):
		return ""
	}
	return c.Out
}

// Redact returns out without the secrets of a DSN, for logs.
func Redact(out string) string {
	if postgres.Is(out) {
		return postgres.Redact(out)
	}
	return out
}

// WithoutPassword returns out in a form that may be stored: it names the same destination, for a
// reader that has the password from elsewhere.
func WithoutPassword(out string) string {
	if postgres.Is(out) {
		return postgres.WithoutPassword(out)
	}
	return out
}

// SamePlace reports whether a and b name the same destination, ignoring secrets and options that do
// not identify it.
func SamePlace(a, b string) bool {
	if postgres.Is(a) && postgres.Is(b) {
		return postgres.Same(a, b)
	}
	return absolute(a) == absolute(b)
}

// Defaults that depend on the destination.
const (
	fileFormat    = "jsonl.zst"
	filePath      = "{crawl}"
	archiveFormat = "warc.gz"
	// A batch of rows is in memory, one for each partition.
	rowBytes = crawlspec.Bytes(4 << 20)
	// rowPath groups records by kind, since they are rows.
	rowPath = "{crawl}/{kind}"
)

// validateDatabase returns an error for the first option that is invalid for a database.
func (c *OutputConfig) validateDatabase() error {
	check := sqlite.Validate
	if postgres.Is(c.Out) {
		check = postgres.Validate
	}
	switch err := check(c.Out); {
	case err != nil:
		return err
	case c.Format != "":
		return fmt.Errorf("--format %s: is for files, --out %s is a database: leave it out", c.Format, Redact(c.Out))
	case c.Key != "":
		return fmt.Errorf("--key %s: is for files, --out %s is a database: leave it out", c.Key, Redact(c.Out))
	case len(c.Encrypt) > 0:
		return fmt.Errorf("--encrypt: is for files, --out %s is a database: leave it out", Redact(c.Out))
	case c.Path != "":
		return fmt.Errorf("--path %s: is for files, --out %s is a database: leave it out", c.Path, Redact(c.Out))
	}
	return c.S3.Validate(Redact(c.Out))
}

// closeSink closes the connections of a sink, if it has any.
func closeSink(sink any) error {
	c, ok := sink.(io.Closer)
	if !ok {
		return nil
	}
	if err := c.Close(); err != nil {
		return errors.Join(errors.New("close output"), err)
	}
	return nil
}

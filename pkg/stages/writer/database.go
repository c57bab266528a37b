package writer

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"

	"seine/internal/output/bucket"
	"seine/internal/output/postgres"
	"seine/internal/output/rows"
	"seine/internal/output/sqlite"
	"seine/pkg/messages"
)

// IsDatabase reports whether out names a database, where records are rows.
func IsDatabase(out string) bool { return sqlite.Is(out) || postgres.Is(out) }

// TableOf names the table of a database that has the records of a kind.
func TableOf(out, kind string) string {
	if postgres.Is(out) {
		return postgres.Table(out, rows.TableOf(kind))
	}
	return rows.TableOf(kind)
}

// Directory is where on this machine the output is, "" if it is elsewhere.
func (p *Place) Directory() string {
	switch {
	case sqlite.Is(p.Out):
		return filepath.Dir(sqlite.File(p.Out))
	case postgres.Is(p.Out), bucket.Is(p.Out):
		return ""
	}
	return p.Out
}

// Redact returns what may be told of out: all but the secrets of a DSN.
func Redact(out string) string {
	if postgres.Is(out) {
		return postgres.Redact(out)
	}
	return out
}

// Defaults that depend on the place.
const (
	fileFormat    = "jsonl.zst"
	filePath      = "{crawl}"
	archiveFormat = "warc.gz"
	// A batch of rows is in memory, once for each partition.
	rowBytes = messages.Bytes(4 << 20)
	// rowPath has records of one kind in a group, where they are rows.
	rowPath = "{crawl}/{kind}"
)

// validateDatabase names the first option that is wrong for a database.
func (p *Place) validateDatabase() error {
	check := sqlite.Validate
	if postgres.Is(p.Out) {
		check = postgres.Validate
	}
	switch err := check(p.Out); {
	case err != nil:
		return err
	case p.Format != "":
		return fmt.Errorf("--format %s: is for files, --out %s is a database: leave it out", p.Format, Redact(p.Out))
	case p.Key != "", len(p.Encrypt) > 0:
		return fmt.Errorf("--key and --encrypt: are for files, --out %s is a database: leave them out", Redact(p.Out))
	case p.Path != "":
		return fmt.Errorf("--path %s: is for files, --out %s is a database: leave it out", p.Path, Redact(p.Out))
	}
	return p.S3.Validate(Redact(p.Out))
}

// CheckDatabase reports, before anything is started, that a database cannot be
// written: it is not there, it is not for these credentials, or not for a writer of
// this name. It makes or changes the tables if need be. For files it returns nil.
func (c *Config) CheckDatabase() error {
	if !IsDatabase(c.Out) {
		return nil
	}
	sink, err := openSink(c, slog.New(slog.DiscardHandler), nil)
	if err != nil {
		return err
	}
	return closeSink(sink)
}

// closeSink ends the connections of a sink that has some.
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

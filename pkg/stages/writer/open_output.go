package writer

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"

	"seine/internal/output"
	"seine/internal/output/bucket"
	"seine/internal/output/dir"
	"seine/internal/output/postgres"
	"seine/internal/output/sqlite"
)

// openSink opens the output for a writer, exclusively. A new kind of destination needs a case here,
// in OutputWriters and in readLog; a new format belongs to package format.
func openSink(c *Config, log *slog.Logger, h output.Hook) (output.Sink, error) {
	switch {
	case bucket.Is(c.Out):
		return bucket.Open(c.Out, c.Name, filepath.Join(c.State, "chunks"), c.S3, log, h)
	case sqlite.Is(c.Out):
		return sqlite.Open(c.Out, c.Name, c.From, log, h)
	case postgres.Is(c.Out):
		return postgres.Open(c.Out, c.Name, c.From, log, h)
	}
	return dir.Open(c.Out, c.Name, log, h)
}

// OpenOutput returns the committed output of the writer called name in a directory, in S3 or in a
// database, or of the only one if name is empty. The caller must close it.
func OpenOutput(out, name string, o bucket.Options) (output.Output, error) {
	if err := o.Validate(Redact(out)); err != nil {
		return output.Output{}, err
	}
	if name != "" && !writerName().MatchString(name) {
		return output.Output{}, fmt.Errorf("read commits: %q is not the name of a writer", name)
	}
	log, err := readLog(out, name, o)
	if err != nil {
		return output.Output{}, fmt.Errorf("read commits: %w", err)
	}
	return output.Output{Log: log}, nil
}

// OutputWriters returns the names of the writers with commits in a destination, sorted.
func OutputWriters(out string, o bucket.Options) (names []string, err error) {
	switch {
	case bucket.Is(out):
		names, err = bucket.Writers(out, o)
	case sqlite.Is(out):
		names, err = sqlite.Writers(out)
	case postgres.Is(out):
		names, err = postgres.Writers(out)
	default:
		names, err = dir.Writers(out)
	}
	if err != nil {
		return nil, fmt.Errorf("read commits: %w", err)
	}
	slices.Sort(names)
	return names, nil
}

func readLog(out, name string, o bucket.Options) (output.Log, error) {
	switch {
	case bucket.Is(out):
		return bucket.Read(out, name, o)
	case sqlite.Is(out):
		return sqlite.Read(out, name)
	case postgres.Is(out):
		return postgres.Read(out, name)
	}
	return dir.Read(out, name)
}

// ReadCommits returns the commit log of the writer. It does not exist before the writer's first
// run.
func (c *Config) ReadCommits() ([]output.Commit, error) {
	o, err := OpenOutput(c.Out, c.Name, c.S3)
	if err != nil {
		return nil, err
	}
	all, err := o.All()
	return all, errors.Join(err, o.Close())
}

// CheckOpens returns an error if an output in S3 or in a database cannot be written, before
// anything is started: it does not exist, the credentials do not allow it, or it belongs to another
// writer. It creates or changes tables if needed.
func (c *Config) CheckOpens() error {
	sink, err := openSink(c, slog.New(slog.DiscardHandler), nil)
	if err != nil {
		return err
	}
	return closeSink(sink)
}

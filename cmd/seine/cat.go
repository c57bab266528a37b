package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"seine/internal/format"
	"seine/internal/output"
	"seine/internal/output/bucket"
	"seine/internal/sealed"
	"seine/pkg/stages/writer"
)

type catCmd struct {
	Paths []string `arg:"" optional:"" help:"Files or directories of output, or s3://BUCKET/PREFIX, sqlite:FILE or postgres://…." default:"./seine-out"`
	identities
	place
}

// Help is shown below the list of flags.
func (c *catCmd) Help() string {
	return `Of an output it prints what is committed, and of a folder in one what is committed there.
Of any other directory it prints the files that look like records. Examples:

  seine cat ./seine-out | head -n 1
  seine cat ./seine-out/default/product
  seine cat s3://pages/crawls --s3-region eu-central-1 --identity key.txt`
}

// Run prints the records of output files, a line each.
func (c *catCmd) Run() error {
	ids, err := c.read()
	if err != nil {
		return err
	}
	for _, p := range c.Paths {
		if err := c.print(p, ids); err != nil {
			return err
		}
	}
	return nil
}

func (c *catCmd) print(p string, ids sealed.Identities) error {
	if writer.IsDatabase(p) {
		return c.printRows(p)
	}
	if err := checkPath(p); err != nil {
		return usageError{err}
	}
	if info, err := os.Stat(p); err == nil && !info.IsDir() {
		return printFile(os.Stdout, p, ids)
	}
	o, below, err := c.find(p)
	switch {
	case errors.Is(err, output.ErrNoLog) && !bucket.Is(p):
		return printFolder(os.Stdout, p, ids)
	case err != nil:
		return err
	}
	return printOutput(os.Stdout, o, below, ids)
}

// printRows prints the records of a database.
func (c *catCmd) printRows(out string) error {
	o, err := c.open(out)
	if err != nil {
		return err
	}
	defer o.Close()
	p, ok := o.Log.(output.Printer)
	if !ok {
		return fmt.Errorf("print %s: it has no records", writer.Redact(out))
	}
	return p.PrintRecords(os.Stdout)
}

// printOutput prints what is committed in a folder of an output.
func printOutput(w io.Writer, o output.Output, below string, ids sealed.Identities) error {
	var latest *output.Expected // made when there is an object
	return o.Commits(func(c *output.Commit) error {
		for _, f := range c.Files {
			if f.IndexOf != "" || below != "" && !strings.HasPrefix(f.Path, below+"/") {
				continue
			}
			if !output.IsChunk(f.Path) {
				var err error
				if latest == nil {
					latest, err = o.Expect("")
				}
				if err != nil {
					return err
				}
				if !latest.Counts(f.Path, c.Name()) {
					continue // it was replaced
				}
			}
			in, err := o.Open(f)
			if err == nil {
				err = errors.Join(printLines(w, in, f.Path, ids), in.Close())
			}
			if err != nil {
				return fmt.Errorf("print %s: %w", f.Path, err)
			}
		}
		return nil
	})
}

// printFolder prints the files below a directory that look like records.
func printFolder(w io.Writer, dir string, ids sealed.Identities) error {
	var files []string
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case p != dir && strings.ContainsAny(d.Name()[:1], "._"):
			if d.IsDir() {
				return fs.SkipDir
			}
		case !d.IsDir() && looksLikeRecords(p):
			files = append(files, p)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("list %s: %w", dir, err)
	}
	slices.Sort(files)
	for _, f := range files {
		if err := printFile(w, f, ids); err != nil && !errors.Is(err, format.ErrNoRecords) {
			return err
		}
	}
	return nil
}

func looksLikeRecords(file string) bool {
	name := strings.TrimSuffix(path.Base(filepath.ToSlash(file)), sealed.Ext)
	return output.IsChunk(name) || slices.ContainsFunc([]string{".jsonl", ".jsonl.gz", ".jsonl.zst", ".json"}, func(ext string) bool {
		return strings.HasSuffix(name, ext)
	})
}

func printFile(w io.Writer, path string, ids sealed.Identities) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := printLines(w, f, path, ids); err != nil {
		return fmt.Errorf("print %s: %w", path, err)
	}
	return nil
}

// printLines prints the records of a file, a line each.
func printLines(w io.Writer, f io.Reader, name string, ids sealed.Identities) error {
	records, err := format.Records(name, f, ids)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(w, 64<<10)
	for line, err := range records {
		if err != nil {
			return errors.Join(err, out.Flush())
		}
		_, _ = out.Write(line) // Flush tells
		_ = out.WriteByte('\n')
	}
	return out.Flush()
}

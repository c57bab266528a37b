package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"seine/internal/base/humanize"
	"seine/internal/base/safeprint"
	"seine/internal/output"
	"seine/internal/output/ageencrypt"
	"seine/internal/output/format"
	"seine/pkg/messages"
	"seine/pkg/stages/writer"
)

// singleFile makes one file of records. It keeps them in a temporary file until all have been read,
// since only then the columns are known.
type singleFile struct {
	name  string // name of the format
	opts  format.Options
	kept  *os.File
	buf   *bufio.Writer
	infer format.Infer
	kinds map[string]bool
	n     int64
}

// newSingleFile returns a file in a format of records. columns selects the columns of CSV; none
// selects all.
func newSingleFile(name string, columns []string, opts format.Options) (*singleFile, error) {
	if len(columns) > 0 && !strings.HasPrefix(name, "csv") {
		return nil, usageError{fmt.Errorf("--columns: is for CSV, not for %s (--format csv, or a file named .csv)", name)}
	}
	if _, ok := format.New(name, opts); !ok || format.OfPages(name) {
		return nil, usageError{fmt.Errorf("--format %s: must be jsonl, json, csv or parquet, or jsonl or csv with .gz or .zst", name)}
	}
	kept, err := os.CreateTemp("", "seine-records-")
	if err != nil {
		return nil, err
	}
	_ = os.Remove(kept.Name()) // so that no process leaves the file behind; Windows removes it in close
	f := &singleFile{name: name, opts: opts, kept: kept, buf: bufio.NewWriterSize(kept, 64<<10), kinds: make(map[string]bool)}
	f.opts.CSVOnly = len(columns) > 0
	f.opts.Columns = func(string, string) ([]format.Column, error) { return selectColumns(f.infer.Columns(), columns) }
	return f, nil
}

// selectColumns returns the named columns in the order of names, or all columns without names.
func selectColumns(all []format.Column, names []string) ([]format.Column, error) {
	if len(names) == 0 || len(all) == 0 {
		return all, nil
	}
	var known []string
	for _, c := range all {
		known = append(known, c.Name)
	}
	var columns []format.Column
	for _, name := range names {
		i := slices.Index(known, name)
		if i < 0 {
			return nil, usageError{fmt.Errorf("--columns: no record has %s; %s", name, listed(name, known))}
		}
		columns = append(columns, all[i])
	}
	return columns, nil
}

// add keeps a record, a line of JSON.
func (f *singleFile) add(line []byte) error {
	f.n++
	f.kinds[messages.RecordKind(nil, line)] = true
	if format.HasColumns(f.name) {
		f.infer.Add(line)
	}
	_, err := f.buf.Write(line)
	return errors.Join(err, f.buf.WriteByte('\n'))
}

// writeTo writes the file.
func (f *singleFile) writeTo(w io.Writer) error {
	kinds := slices.Sorted(maps.Keys(f.kinds))
	if format.HasColumns(f.name) && len(kinds) > 1 {
		return usageError{fmt.Errorf("--format %s: has the columns of one kind of record, and there are %s: write --kind %s", f.name, strings.Join(kinds, ", "), kinds[0])}
	}
	if err := f.buf.Flush(); err != nil {
		return err
	}
	if _, err := f.kept.Seek(0, io.SeekStart); err != nil {
		return err
	}
	made, _ := format.New(f.name, f.opts)
	e, err := made.NewEncoder(w, output.Group{Kind: strings.Join(kinds, "")})
	if err != nil {
		return err
	}
	_, err = format.EachRecord("kept.jsonl", f.kept, ageencrypt.Identities{}, func(line []byte) error { return e.Append(&format.Record{Data: line}) })
	if err != nil {
		return err
	}
	return e.Close()
}

// close removes the temporary file.
func (f *singleFile) close() {
	_ = f.kept.Close()
	_ = os.Remove(f.kept.Name())
}

// store atomically writes the file at a path.
func (f *singleFile) store(path string) error {
	to, err := os.Create(path + ".part")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(to.Name()) }() // unless it was renamed
	w := bufio.NewWriterSize(to, 64<<10)
	err = f.writeTo(w)
	if err == nil {
		err = errors.Join(w.Flush(), to.Sync())
	}
	if err = errors.Join(err, to.Close()); err != nil {
		return err
	}
	return os.Rename(to.Name(), path)
}

// single exports to one file.
func (c *exportCmd) single() error {
	_, name := writer.FileMeant(c.Single)
	switch {
	case c.Format != "" || c.Path != "" || c.Key != "" || len(c.Encrypt) > 0:
		return usageError{errors.New("--single: the name of the file selects its format, --path, --key and --encrypt do not apply: export to a directory with --to")}
	case name == "" || !strings.HasSuffix(strings.ToLower(c.Single), "."+name):
		return usageError{fmt.Errorf("--single %s: must be a file whose name ends in .csv, .parquet, .json or .jsonl, or .csv or .jsonl followed by .gz or .zst", c.Single)}
	}
	f, err := newSingleFile(name, c.Columns, format.Options{CSVSafe: c.CSVSafe, CSVBOM: c.CSVBOM})
	if err != nil {
		return err
	}
	defer f.close()
	cat := catCmd{Paths: []string{c.From}, identities: c.identities, outputFlags: outputFlags{S3: c.FromS3}, Crawl: c.Crawl, Kind: c.Kind, Latest: c.Latest, RunOnly: c.RunOnly}
	if err := cat.each(f.add); err != nil {
		return err
	}
	if err := f.store(c.Single); err != nil {
		return err
	}
	safeprint.Printf("exported %s to %s\n", humanize.Plural(f.n, "record"), c.Single)
	return nil
}

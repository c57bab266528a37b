package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"seine/internal/base/jsontext"
	"seine/internal/base/safeprint"
	"seine/internal/output"
	"seine/internal/output/ageencrypt"
	"seine/internal/output/bucket"
	"seine/internal/output/format"
	"seine/pkg/stages/writer"
)

type catCmd struct {
	Paths []string `arg:"" optional:"" help:"Files or directories of the output, or s3://BUCKET/PREFIX, sqlite:FILE or postgres://…." default:"./seine-out"`
	identities
	outputFlags
	Crawl   string   `help:"Only records of this crawl." placeholder:"NAME"`
	Kind    string   `help:"Only records of this kind; page is the kind of whole pages." placeholder:"KIND"`
	Format  string   `env:"-" help:"Format of the output: jsonl, json, csv or parquet, or jsonl or csv with .gz or .zst. CSV and Parquet take one --kind, and are printed once all records are read." default:"jsonl" placeholder:"NAME"`
	Columns []string `env:"-" help:"Columns of CSV, in this order (default: all)." placeholder:"NAME"`
	Latest  bool     `help:"Print only the last record of each key, and the records of each page's last visit, without what is gone." xor:"items"`
	Changes bool     `help:"Print what changed from visit to visit: new, changed, same and gone records, with the former values." xor:"items"`
	RunOnly string   `name:"run" help:"Only records or changes of this run: its number, as in seine runs --json, or last." placeholder:"RUN"`
}

// Help is shown below the list of flags.
func (c *catCmd) Help() string {
	return `Prints the committed records of an output or of a directory in one. In any other directory, prints the files that look like records.
--latest and --changes of files need a temporary file as large as the records. The exit code is 2 if there are records, but none of the
--crawl or --kind. Examples:

  seine cat ./seine-out | head -n 1
  seine cat ./seine-out/default/product
  seine cat ./seine-out --crawl news --kind product --latest --format csv --columns name,price > products.csv
  seine cat ./seine-out --changes --run last | jq -c 'select(.change != "same")'
  seine cat s3://pages/crawls --s3-region eu-central-1 --identity key.txt`
}

// Run prints the records of output files, one per line unless another format is selected.
func (c *catCmd) Run() error {
	if c.Format == "jsonl" && len(c.Columns) == 0 {
		out := bufio.NewWriterSize(dataOut(), 64<<10)
		err := c.each(func(line []byte) error {
			_, err := out.Write(line)
			return errors.Join(err, out.WriteByte('\n'))
		})
		return errors.Join(err, out.Flush())
	}
	f, err := newSingleFile(c.Format, c.Columns, format.Options{})
	if err != nil {
		return err
	}
	defer f.close()
	if err := c.each(f.add); err != nil {
		return err
	}
	if c.Format != "csv" && c.Format != "json" {
		return f.writeTo(os.Stdout)
	}
	return f.writeTo(dataOut())
}

// each calls take with each selected record as a line of JSON. If nothing is selected, it prints a
// hint.
func (c *catCmd) each(take func(line []byte) error) error {
	n := 0
	err := c.eachWanted(func(line []byte) error {
		n++
		return take(line)
	})
	switch {
	case err != nil || n > 0:
	case c.RunOnly != "":
		safeprint.Fprintf(os.Stderr, "seine: no records of run %s; see seine runs\n", c.RunOnly)
	default:
		safeprint.Fprintln(os.Stderr, "seine: no records yet; a running crawl completes its first file after 4 minutes at most (--chunk-age)")
	}
	return err
}

// eachWanted calls take with the selected records.
func (c *catCmd) eachWanted(take func(line []byte) error) error {
	choice, err := c.choice()
	if err != nil {
		return err
	}
	ids, err := c.read()
	if err != nil {
		return err
	}
	pass := func(_, _ string, line []byte) error { return take(line) }
	switch {
	case c.Latest || c.Changes:
		return c.eachOfItems(take, ids, choice)
	case c.Crawl == "" && c.Kind == "" && c.RunOnly == "":
		return recordReader{c, ids, &recordFilter{all: true, pass: pass}}.readAll()
	}
	if choice.LastRun {
		choice.Run = new(int64)
		find := &recordFilter{crawl: c.Crawl, kind: c.Kind, pass: func(_, _ string, line []byte) error {
			*choice.Run = max(*choice.Run, runOf(line))
			return nil
		}}
		if err := (recordReader{c, ids, find}).readAll(); err != nil {
			return err
		}
	}
	wanted := &recordFilter{crawl: c.Crawl, kind: c.Kind, pass: func(_, _ string, line []byte) error {
		if choice.Run != nil && runOf(line) != *choice.Run {
			return nil
		}
		return take(line)
	}}
	if err := (recordReader{c, ids, wanted}).readAll(); err != nil {
		return err
	}
	return wanted.met.check(c.Crawl, c.Kind)
}

// runOf returns the run of a record, -1 if it has none.
func runOf(line []byte) int64 {
	r := struct {
		Run int64 `json:"run"`
	}{-1}
	_ = jsontext.Unmarshal(line, &r) // an invalid line belongs to no run
	return r.Run
}

// recordReader passes the records of outputs, files and databases to a filter.
type recordReader struct {
	*catCmd
	ids ageencrypt.Identities
	to  *recordFilter
}

func (r recordReader) readAll() error {
	for _, p := range r.Paths {
		if err := r.readPath(p); err != nil {
			return err
		}
	}
	return nil
}

func (r recordReader) readPath(p string) error {
	if writer.IsDatabase(p) {
		return r.rows(p)
	}
	if err := checkPath(p); err != nil {
		return usageError{err}
	}
	if info, err := os.Stat(p); err == nil && !info.IsDir() {
		return r.chunk(p)
	}
	o, below, err := r.find(p)
	switch {
	case errors.Is(err, output.ErrNoLog) && !bucket.Is(p) && r.Writer == "":
		return r.folder(p)
	case err != nil:
		return err
	}
	return r.output(o, below)
}

// rows reads the records of a database.
func (r recordReader) rows(out string) error {
	o, err := r.open(out)
	if err != nil {
		return err
	}
	defer o.Close()
	records, ok := o.Log.(output.Reader)
	if !ok {
		return fmt.Errorf("print %s: it has no records", writer.Redact(out))
	}
	return records.EachRecord(r.to.take)
}

// chunk reads a file. If it is a chunk that an entry of the commit log names, its contents are
// compared with the log.
func (r recordReader) chunk(p string) error {
	name, _, ok := output.ParseName(filepath.Base(p))
	if !ok {
		return r.file(p)
	}
	abs, err := filepath.Abs(p)
	if err != nil {
		return err
	}
	o, dir, err := r.find(filepath.Dir(abs))
	if errors.Is(err, output.ErrNoLog) {
		return r.file(p)
	}
	if err != nil {
		return err
	}
	entry, err := o.Read(output.Ref{Name: name})
	switch {
	case errors.Is(err, fs.ErrNotExist): // not committed yet, or no longer
		return r.file(p)
	case err != nil:
		return err
	}
	below := path.Join(dir, filepath.Base(p))
	for i := range entry.Files {
		if f := &entry.Files[i]; f.Path == below && f.IndexOf == "" {
			return r.committed(o, f)
		}
	}
	return r.file(p)
}

// output reads the committed files of an output, or those in a folder of it, or a single one.
func (r recordReader) output(o output.Output, below string) error {
	var latest *output.Expected // loaded at the first object
	var missing error           // for the first missing file; the others are still read
	deletions := o.Deletions(r.Crawl)
	err := o.Commits(func(c *output.Commit) error {
		for i := range c.Files {
			f := &c.Files[i]
			if f.IndexOf != "" {
				continue
			}
			if outside := below != "" && f.Path != below && !strings.HasPrefix(f.Path, below+"/"); !r.to.takesFrom(f, outside) {
				continue
			}
			if !output.IsChunk(f.Path) {
				var err error
				if latest == nil {
					latest, err = o.ExpectWhole("")
				}
				if err != nil {
					return err
				}
				if !latest.Counts(f.Path, c.Name()) {
					continue // it was replaced
				}
			}
			switch err := deletions.LeaveOut(f, r.committed(o, f)); {
			case errors.Is(err, fs.ErrNotExist):
				missing = cmp.Or(missing, err)
			case err != nil:
				return err
			}
		}
		return nil
	})
	for _, crawl := range deletions.Crawls() {
		safeprint.Fprintf(os.Stderr, "seine: crawl %s: files that are missing, as after a deletion, are left out\n", crawl)
	}
	return cmp.Or(err, missing)
}

// committed reads a file that the commit log names. A chunk is compared with the log while it is
// read. An object may be replaced at any moment, and is complete JSON or absent.
func (r recordReader) committed(o output.Output, f *output.File) error {
	take := func(line []byte) error { return r.to.take(f.Crawl, line) }
	var err error
	if output.IsChunk(f.Path) {
		err = format.ReadFile(o, f, r.ids, take)
	} else {
		var in io.ReadCloser
		if in, err = o.Open(*f); err == nil {
			_, err = format.EachRecord(f.Path, in, r.ids, take)
			err = errors.Join(err, in.Close())
		}
	}
	if err != nil {
		return fmt.Errorf("print %s: %w", f.Path, err)
	}
	return nil
}

// folder reads the files below a directory that look like records.
func (r recordReader) folder(dir string) error {
	var files []string
	other := "" // a file without records
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case p != dir && strings.ContainsAny(d.Name()[:1], "._"):
			if d.IsDir() {
				return fs.SkipDir
			}
		case !d.IsDir() && looksLikeRecords(p) && d.Name() != memoryFile:
			files = append(files, p)
		case !d.IsDir():
			other = p
		}
		return nil
	})
	switch {
	case err != nil:
		return fmt.Errorf("list %s: %w", dir, err)
	case len(files) == 0 && other != "":
		return usageError{fmt.Errorf("%s: is not an output, and has no file of records: name the --out of a crawl, by default ./seine-out", dir)}
	}
	slices.Sort(files)
	for _, f := range files {
		if err := r.file(f); err != nil && !errors.Is(err, format.ErrNoRecords) {
			return err
		}
	}
	return nil
}

func looksLikeRecords(file string) bool {
	name := ageencrypt.PlainName(path.Base(filepath.ToSlash(file)))
	return output.IsChunk(name) || slices.ContainsFunc(format.ReadableExts(), func(ext string) bool {
		return strings.HasSuffix(name, ext)
	})
}

func (r recordReader) file(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := format.EachRecord(path, f, r.ids, func(line []byte) error { return r.to.take("", line) }); err != nil {
		return fmt.Errorf("print %s: %w", path, err)
	}
	return nil
}

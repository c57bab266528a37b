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

	"seine/internal/base/jsontext"
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
	Crawl   string `help:"Only records of this crawl." placeholder:"NAME"`
	Kind    string `help:"Only records of this kind; page is the kind of whole pages." placeholder:"KIND"`
	Format  string `env:"-" help:"Format of the output: jsonl, json, csv or parquet, or jsonl or csv with .gz or .zst. CSV and Parquet take one --kind, and are printed once all records are read." default:"jsonl" placeholder:"NAME"`
	Latest  bool   `help:"Print only the last record of each key, and the records of each page's last visit, without what is gone." xor:"items"`
	Changes bool   `help:"Print what changed from visit to visit: new, changed, same and gone records, with the former values." xor:"items"`
	RunOnly string `name:"run" help:"Only records or changes of this run: its number, as in seine runs --json, or last." placeholder:"RUN"`
}

// Help is shown below the list of flags.
func (c *catCmd) Help() string {
	return `Prints the committed records of an output or of a directory in one. In any other directory, prints the files that look like records.
--latest and --changes of files need a temporary file as large as the records. The exit code is 2 if there are records, but none of the
--crawl or --kind. Examples:

  seine cat ./seine-out | head -n 1
  seine cat ./seine-out/default/product
  seine cat ./seine-out --crawl news --kind product --latest --format csv > products.csv
  seine cat ./seine-out --changes --run last | jq -c 'select(.change != "same")'
  seine cat s3://pages/crawls --s3-region eu-central-1 --identity key.txt`
}

// Run prints the records of output files, a line each unless they are wanted in another format.
func (c *catCmd) Run() error {
	if c.Format == "jsonl" {
		return c.printTo(dataOut())
	}
	f, err := newSingleFile(c.Format, format.Options{})
	if err != nil {
		return err
	}
	defer f.close()
	if err := c.printTo(f); err != nil {
		return err
	}
	if c.Format != "csv" && c.Format != "json" {
		return f.writeTo(os.Stdout)
	}
	return f.writeTo(dataOut())
}

// printTo prints the records that are wanted.
func (c *catCmd) printTo(to io.Writer) error {
	choice, err := c.choice()
	if err != nil {
		return err
	}
	ids, err := c.read()
	if err != nil {
		return err
	}
	switch {
	case c.Latest || c.Changes:
		return c.printItems(to, ids, choice)
	case c.Crawl == "" && c.Kind == "" && c.RunOnly == "":
		return c.printAll(to, ids)
	}
	if choice.LastRun {
		choice.Run = new(int64)
		find := &recordFilter{crawl: c.Crawl, kind: c.Kind, pass: func(_, _ string, line []byte) error {
			*choice.Run = max(*choice.Run, runOf(line))
			return nil
		}}
		if err := c.printAll(find, ids); err != nil {
			return err
		}
	}
	lines := newLineWriter(to)
	wanted := &recordFilter{crawl: c.Crawl, kind: c.Kind, pass: func(_, _ string, line []byte) error {
		if choice.Run != nil && runOf(line) != *choice.Run {
			return nil
		}
		return lines.write(line)
	}}
	if err := errors.Join(c.printAll(wanted, ids), lines.Flush()); err != nil {
		return err
	}
	return wanted.met.check(c.Crawl, c.Kind)
}

// runOf returns the run of a record, -1 if it has none.
func runOf(line []byte) int64 {
	r := struct {
		Run int64 `json:"run"`
	}{-1}
	_ = jsontext.Unmarshal(line, &r) // one that is none is of no run
	return r.Run
}

func (c *catCmd) printAll(w io.Writer, ids ageencrypt.Identities) error {
	for _, p := range c.Paths {
		if err := c.print(w, p, ids); err != nil {
			return err
		}
	}
	return nil
}

func (c *catCmd) print(w io.Writer, p string, ids ageencrypt.Identities) error {
	if writer.IsDatabase(p) {
		return c.printRows(w, p)
	}
	if err := checkPath(p); err != nil {
		return usageError{err}
	}
	if info, err := os.Stat(p); err == nil && !info.IsDir() {
		return c.printChunk(w, p, ids)
	}
	o, below, err := c.find(p)
	switch {
	case errors.Is(err, output.ErrNoLog) && !bucket.Is(p) && c.Writer == "":
		return printFolder(w, p, ids)
	case err != nil:
		return err
	}
	return printOutput(w, o, below, ids)
}

// printRows prints the records of a database.
func (c *catCmd) printRows(w io.Writer, out string) error {
	o, err := c.open(out)
	if err != nil {
		return err
	}
	defer o.Close()
	records, ok := o.Log.(output.Reader)
	if !ok {
		return fmt.Errorf("print %s: it has no records", writer.Redact(out))
	}
	lines := newLineWriter(w)
	wanted, _ := w.(*recordFilter)
	err = records.EachRecord(func(crawl string, line []byte) error {
		if wanted != nil && wanted.crawlOfPlace != crawl {
			err := lines.Flush() // what is left is of another
			if wanted.crawlOfPlace = crawl; err != nil {
				return err
			}
		}
		return lines.write(line)
	})
	return errors.Join(err, lines.Flush())
}

// printChunk prints a file, and compares it with the commit log if it is a chunk that
// an entry of that names.
func (c *catCmd) printChunk(w io.Writer, p string, ids ageencrypt.Identities) error {
	name, _, ok := output.ParseName(filepath.Base(p))
	if !ok {
		return printFile(w, p, ids)
	}
	abs, err := filepath.Abs(p)
	if err != nil {
		return err
	}
	o, dir, err := c.find(filepath.Dir(abs))
	if errors.Is(err, output.ErrNoLog) {
		return printFile(w, p, ids)
	}
	if err != nil {
		return err
	}
	entry, err := o.Read(output.Ref{Name: name})
	switch {
	case errors.Is(err, fs.ErrNotExist): // not committed yet, or not any more
		return printFile(w, p, ids)
	case err != nil:
		return err
	}
	below := path.Join(dir, filepath.Base(p))
	for i := range entry.Files {
		if f := &entry.Files[i]; f.Path == below && f.IndexOf == "" {
			return printCommitted(w, o, f, ids)
		}
	}
	return printFile(w, p, ids)
}

// printOutput prints what is committed in a folder of an output, or as that file.
func printOutput(w io.Writer, o output.Output, below string, ids ageencrypt.Identities) error {
	var latest *output.Expected // made when there is an object
	return o.Commits(func(c *output.Commit) error {
		for i := range c.Files {
			f := &c.Files[i]
			if f.IndexOf != "" {
				continue
			}
			if outside := below != "" && f.Path != below && !strings.HasPrefix(f.Path, below+"/"); !takesFrom(w, f, outside) {
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
			if err := printCommitted(w, o, f, ids); err != nil {
				return err
			}
		}
		return nil
	})
}

// takesFrom reports whether w takes the records of a file, which may be outside of the selected folder.
func takesFrom(w io.Writer, f *output.File, outside bool) bool {
	s, ok := w.(*recordFilter)
	if ok && s.crawl != "" && f.Crawl != "" && f.Crawl != s.crawl {
		s.met.add(f.Crawl, f.Kind, s)
		return false
	}
	if ok {
		s.beside = outside
		s.tookBeside = s.tookBeside || outside
	}
	return !outside || ok && s.takesBeside
}

// printCommitted prints a file that the commit log names. A chunk is compared with the
// log on the way; an object may be replaced at any moment, and is whole JSON or none.
func printCommitted(w io.Writer, o output.Output, f *output.File, ids ageencrypt.Identities) error {
	if s, ok := w.(*recordFilter); ok {
		s.crawlOfPlace = f.Crawl
	}
	lines := newLineWriter(w)
	var err error
	if output.IsChunk(f.Path) {
		err = format.ReadFile(o, f, ids, lines.write)
	} else {
		var in io.ReadCloser
		if in, err = o.Open(*f); err == nil {
			_, err = format.EachRecord(f.Path, in, ids, lines.write)
			err = errors.Join(err, in.Close())
		}
	}
	if err := errors.Join(err, lines.Flush()); err != nil {
		return fmt.Errorf("print %s: %w", f.Path, err)
	}
	return nil
}

// printFolder prints the files below a directory that look like records.
func printFolder(w io.Writer, dir string, ids ageencrypt.Identities) error {
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
	name := ageencrypt.PlainName(path.Base(filepath.ToSlash(file)))
	return output.IsChunk(name) || slices.ContainsFunc(format.ReadableExts(), func(ext string) bool {
		return strings.HasSuffix(name, ext)
	})
}

func printFile(w io.Writer, path string, ids ageencrypt.Identities) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := newLineWriter(w)
	_, err = format.EachRecord(path, f, ids, lines.write)
	if err := errors.Join(err, lines.Flush()); err != nil {
		return fmt.Errorf("print %s: %w", path, err)
	}
	return nil
}

// lineWriter writes records, a line each. A single file takes one record with each call.
type lineWriter struct {
	*bufio.Writer
	single *singleFile
}

func newLineWriter(w io.Writer) lineWriter {
	single, _ := w.(*singleFile)
	return lineWriter{bufio.NewWriterSize(w, 64<<10), single}
}

func (w lineWriter) write(line []byte) error {
	if w.single != nil {
		_, err := w.single.Write(append(line[:len(line):len(line)], '\n'))
		return err
	}
	_, err := w.Write(line)
	return errors.Join(err, w.WriteByte('\n'))
}

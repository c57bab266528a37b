package contract

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"seine/internal/base/jsontext"
	"seine/internal/output"
	"seine/internal/output/ageencrypt"
	"seine/internal/output/bucket"
	"seine/internal/output/dir"
	"seine/internal/output/format"
	"seine/internal/output/warc"
	"seine/internal/testing/warctest"
	"seine/pkg/messages"
)

// difference is what records lack of the pages that there should be, and what they have too much of.
type difference struct{ lost, repeated, strange []string }

// compare looks for each page once among the records.
func compare(records map[string]int, pages []string) (d difference) {
	expected := make(map[string]bool, len(pages))
	for _, u := range pages {
		expected[u] = true
		if records[u] == 0 {
			d.lost = append(d.lost, u)
		}
	}
	for u, n := range records {
		switch {
		case !expected[u]:
			d.strange = append(d.strange, u)
		case n > 1:
			d.repeated = append(d.repeated, u)
		}
	}
	slices.Sort(d.repeated)
	slices.Sort(d.strange)
	return d
}

// Output is where a writer writes to, and how to read that.
type Output struct {
	Out      string // as of its option
	S3       bucket.Options
	Archive  bool // its records are pages as they came (WARC)
	Rendered bool // an archive whose pages are what browsers have made of them
}

func (p Output) inBucket() bool { return bucket.Is(p.Out) }

// open reads what the writer called name has committed.
func (p Output) open(name string) (output.Output, error) {
	var log output.Log
	var err error
	if p.inBucket() {
		log, err = bucket.Read(p.Out, name, p.S3)
	} else {
		log, err = dir.Read(p.Out, name)
	}
	return output.Output{Log: log}, err
}

// found is what an output has of a crawl.
type found struct {
	byURL map[string]int
	cut   []string // URLs of records that lack the end of their page
	n     int64    // records in all
}

// committed counts the committed records of a crawl.
func (p Output) committed(name, crawl string) (got found, err error) {
	o, err := p.open(name)
	if errors.Is(err, output.ErrNoLog) {
		return found{}, nil
	}
	if err != nil {
		return found{}, fmt.Errorf("open output: %w", err)
	}
	defer func() { _ = o.Close() }()
	got.byURL = make(map[string]int)
	err = o.Commits(func(c *output.Commit) error {
		for _, f := range c.Files {
			if f.Crawl != crawl || f.IndexOf != "" {
				continue
			}
			count, want := got.countRecords, f.Records
			if p.Archive {
				count, want = got.countCaptures, f.Records-f.RecordsOf(messages.KindAnswer)
			}
			if p.Rendered {
				count = got.countRendered
			}
			k, err := count(o, f)
			if err != nil {
				return fmt.Errorf("read %s: %w", f.Path, err)
			}
			if k != want {
				return fmt.Errorf("read %s: %d records, the commit log says %d", f.Path, k, want)
			}
			got.n += int64(k)
		}
		return nil
	})
	return got, err
}

// pageEnd is the text that each page of the test web ends with.
const pageEnd = "Top"

func (got *found) countRecords(o output.Output, f output.File) (n int, err error) {
	in, err := o.Open(f)
	if err != nil {
		return 0, err
	}
	defer func() { err = cmp.Or(err, in.Close()) }()
	return format.EachRecord(f.Path, in, ageencrypt.Identities{}, func(line []byte) error {
		var r messages.Record
		if err := jsontext.Unmarshal(line, &r); err != nil {
			return err
		}
		if got.byURL[r.URL]++; !strings.HasSuffix(strings.TrimSpace(r.Text), pageEnd) {
			got.cut = append(got.cut, r.URL)
		}
		return nil
	})
}

// countCaptures counts the pages of an archive. An answer that is no page has its class in the metadata that follow it.
func (got *found) countCaptures(o output.Output, f output.File) (n int, err error) {
	err = eachArchived(o, f, func(r *warctest.Record) {
		url := r.Get("WARC-Target-URI")
		if r.Type() == warc.TypeResponse || r.Type() == warc.TypeRevisit {
			got.byURL[url]++
			n++
		}
		if r.Type() == warc.TypeMetadata && bytes.Contains(r.Block, []byte("\r\nclass: ")) {
			if got.byURL[url]--; got.byURL[url] == 0 {
				delete(got.byURL, url)
			}
			n--
		}
	})
	return n, err
}

// countRendered counts what browsers have made of pages, in an archive that has the documents and what they need beside.
func (got *found) countRendered(o output.Output, f output.File) (n int, err error) {
	err = eachArchived(o, f, func(r *warctest.Record) {
		url, shown := strings.CutPrefix(r.Get("WARC-Target-URI"), "urn:dom:")
		if shown && r.Type() != warc.TypeMetadata {
			got.byURL[url]++
			n++
		}
	})
	return n, err
}

// eachArchived reads the records of an archive, each of which must be as its digests say.
func eachArchived(o output.Output, f output.File, do func(*warctest.Record)) (err error) {
	in, err := o.Open(f)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, in.Close()) }()
	plain, err := warctest.Open(f.Path, in)
	if err != nil {
		return err
	}
	for b := bufio.NewReader(plain); ; {
		r, err := warctest.Read(b)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = r.Check()
		}
		if err != nil {
			return err
		}
		do(r)
	}
}

// problems compares every file of a crawl, or of all if it is empty, with the commit log. Only when no writer runs can it
// be told whether files that no entry names will be removed.
func (p Output) problems(ctx context.Context, name, crawl string, stopped bool) (bad []string, err error) {
	o, err := p.open(name)
	if err != nil {
		return nil, fmt.Errorf("open output: %w", err)
	}
	defer func() { _ = o.Close() }()
	expected, err := o.Expect(crawl)
	if err != nil {
		return nil, err
	}
	report, err := o.Check(ctx, expected)
	for _, problem := range report.Problems {
		if problem.Kind != output.Surplus || stopped {
			bad = append(bad, problem.Error())
		}
	}
	return bad, err
}

package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"seine/internal/output"
	"seine/internal/output/ageencrypt"
	"seine/internal/output/bucket"
	"seine/internal/output/dir"
	"seine/internal/output/format"
	"seine/internal/output/warc"
	"seine/internal/testing/testweb"
	"seine/internal/testing/warctest"
	"seine/pkg/messages"
)

// requestGaps is how the requests of a log kept their distance.
type requestGaps struct {
	early       []string // came before the delay was over
	overlapping []string // came while another was under way
	smallest    float64  // gap, as a share of the delay
}

// requisitePrefix begins the paths of what pages of the test web need beside their document.
const requisitePrefix = "/static/"

// paceOf looks at every two requests to a host that follow each other, robots.txt included, by the server's clock. What a browser
// asks for to show a page has no delay of its own, but must not be asked for beside a page, and the next page waits for the end of it.
func paceOf(requests []testweb.Request, delay time.Duration) (p requestGaps) {
	p.smallest = noGap
	last := make(map[string]*testweb.Request) // by host: that which ended last
	slices.SortStableFunc(requests, func(a, b testweb.Request) int { return a.At.Compare(b.At) })
	for i := range requests {
		r := &requests[i]
		before, requisite := last[r.Host], isRequisite(r)
		if before == nil {
			last[r.Host] = r
			continue
		}
		gap := r.At.Sub(before.End)
		what := fmt.Sprintf("%s %s at %s, %v after the end of %s (from %s to %s)", r.Host, r.Path, r.At.Format(stampFormat), gap,
			before.Path, before.At.Format(stampFormat), before.End.Format(stampFormat))
		switch {
		case requisite && (isRequisite(before) || !before.End.IsZero() && gap >= 0):
		case before.End.IsZero() || gap < 0:
			p.overlapping = append(p.overlapping, what)
			p.smallest = min(p.smallest, 0)
		case gap < delay:
			p.early = append(p.early, what)
			fallthrough
		default:
			p.smallest = min(p.smallest, float64(gap)/float64(delay))
		}
		if !before.End.IsZero() && (r.End.IsZero() || r.End.After(before.End)) {
			last[r.Host] = r
		}
	}
	return p
}

func isRequisite(r *testweb.Request) bool { return strings.HasPrefix(r.Path, requisitePrefix) }

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

// open reads what the writer called name has committed.
func (p outputRef) open(name string) (output.Output, error) {
	var log output.Log
	var err error
	if bucket.Is(p.out) {
		log, err = bucket.Read(p.out, name, p.s3)
	} else {
		log, err = dir.Read(p.out, name)
	}
	return output.Output{Log: log}, err //nolint:wrapcheck // by whoever calls
}

// found is what an output has of a crawl.
type found struct {
	byURL map[string]int
	cut   []string // URLs of records that lack the end of their page
	n     int64    // records in all
}

// committed counts the committed records of a crawl.
func (p outputRef) committed(name, crawl string) (got found, err error) {
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
			if name == archiveWriter {
				count, want = got.countCaptures, f.Records-f.RecordsOf(messages.KindAnswer)
			}
			if p.rendered {
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
		return 0, err //nolint:wrapcheck // by whoever calls
	}
	defer func() { err = cmp.Or(err, in.Close()) }()
	lines, err := format.Records(f.Path, io.Reader(in), ageencrypt.Identities{})
	if err != nil {
		return 0, err //nolint:wrapcheck // by whoever calls
	}
	for line, err := range lines {
		if err != nil {
			return n, err
		}
		var r messages.Record
		if err := json.Unmarshal(line, &r); err != nil {
			return n, err //nolint:wrapcheck // by whoever calls
		}
		if got.byURL[r.URL]++; !strings.HasSuffix(strings.TrimSpace(r.Text), pageEnd) {
			got.cut = append(got.cut, r.URL)
		}
		n++
	}
	return n, nil
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
		return err //nolint:wrapcheck // by whoever calls
	}
	defer func() { err = cmp.Or(err, in.Close()) }()
	plain, err := warctest.Open(f.Path, in)
	if err != nil {
		return err //nolint:wrapcheck // by whoever calls
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
			return err //nolint:wrapcheck // by whoever calls
		}
		do(r)
	}
}

// problems compares every file of a crawl, or of all if it is empty, with the commit log. Only when no writer runs can it
// be told whether files that no entry names will be removed.
func (p outputRef) problems(ctx context.Context, name, crawl string, stopped bool) (bad []string, err error) {
	o, err := p.open(name)
	if err != nil {
		return nil, fmt.Errorf("open output: %w", err)
	}
	defer func() { _ = o.Close() }()
	expected, err := o.Expect(crawl)
	if err != nil {
		return nil, err //nolint:wrapcheck // says all
	}
	report, err := o.Check(ctx, expected)
	for _, problem := range report.Problems {
		if problem.Kind != output.Surplus || stopped {
			bad = append(bad, problem.Error())
		}
	}
	return bad, err //nolint:wrapcheck // says all
}

// Package records reads extracted records in parts: files and records of an output through its
// commit log, and new records from the stream RECORDS.
package records

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"seine/internal/base/suggest"
	"seine/internal/output"
	"seine/internal/output/ageencrypt"
	"seine/internal/output/format"
	"seine/pkg/messages"
)

// Errors of Page.
var (
	ErrCursor    = errors.New("the cursor is not from these records")
	ErrEncrypted = errors.New("the records are encrypted: seine cat --identity KEY reads them")
	ErrDatabase  = errors.New("the output is a database: query the records there")
	ErrFormat    = errors.New("records of this format cannot be read back: read the file itself, or write jsonl.zst")
)

// Choice selects records. Empty fields select all.
type Choice struct {
	Crawl, Kind string
	File        string // path of the only file to read, from the first commit that has it
}

// Bounds of one page.
const (
	maxCommits = 500 // commits that are examined
	maxBytes   = 8 << 20
	pageTime   = 5 * time.Second
)

// Page is a page of the records of an output, in the order of its log.
type Page struct {
	Records [][]byte // JSON
	// Next is the cursor of the next page, "" at the end of the committed records. A page may be
	// empty although others follow, because the search is bounded.
	Next string
	// Meant is a similar kind that the output has, if the selected one does not exist. It is "" if
	// none is similar, or if the output has further pages.
	Meant string
}

// position is the start of a page: a commit, a file in it, and a number of records to skip.
type position struct {
	entry        string
	file, record int
}

func (p position) String() string { return fmt.Sprintf("%s/%d/%d", p.entry, p.file, p.record) }

func parse(cursor string) (p position, err error) {
	parts := strings.Split(cursor, "/")
	if len(parts) != 3 {
		return p, ErrCursor
	}
	p.entry = parts[0]
	p.file, err = strconv.Atoi(parts[1])
	n, err2 := strconv.Atoi(parts[2])
	p.record = n
	if errors.Join(err, err2) != nil || p.file < 0 || p.record < 0 {
		return p, ErrCursor
	}
	return p, nil
}

// Read returns up to most selected records from a cursor on; "" is the beginning.
func Read(ctx context.Context, o output.Output, c Choice, cursor string, most int) (Page, error) {
	if _, database := o.Log.(output.Reader); database {
		return Page{}, ErrDatabase
	}
	r := reader{ctx: ctx, out: o, choice: c, most: most, until: time.Now().Add(pageTime), kinds: make(map[string]bool)}
	var from position
	if cursor != "" {
		var err error
		if from, err = parse(cursor); err != nil {
			return Page{}, err
		}
	}
	refs, err := refsFrom(o, from.entry)
	if err != nil {
		return Page{}, err
	}
	return r.read(refs, from)
}

// refsFrom returns the commits from one on, all for "".
func refsFrom(o output.Output, entry string) ([]output.Ref, error) {
	refs, err := o.List(-1)
	if err != nil {
		return nil, fmt.Errorf("read commits: %w", err)
	}
	if entry == "" {
		return refs, nil
	}
	at := slices.IndexFunc(refs, func(ref output.Ref) bool { return ref.String() == entry })
	if at < 0 {
		return nil, ErrCursor
	}
	return refs[at:], nil
}

func (r *reader) read(refs []output.Ref, from position) (Page, error) {
	for i, ref := range refs {
		if i == maxCommits || time.Now().After(r.until) {
			r.page.Next = position{entry: ref.String()}.String()
			break
		}
		over, err := r.entry(ref, from)
		if err != nil || over {
			return r.page, err
		}
		from = position{}
	}
	if len(r.page.Records) == 0 && r.page.Next == "" && r.choice.Kind != "" {
		r.page.Meant = suggest.Name(r.choice.Kind, slices.Sorted(maps.Keys(r.kinds)))
	}
	if len(r.page.Records) == 0 && r.skipped != "" {
		return r.page, fmt.Errorf("file %s: %w", r.skipped, ErrFormat)
	}
	return r.page, nil
}

// reader fills a page.
type reader struct {
	ctx    context.Context
	out    output.Output
	choice Choice
	most   int
	until  time.Time
	bytes  int
	page   Page
	kinds  map[string]bool // kinds of skipped files

	skipped string // path of the last file with an unreadable format
}

// entry reads records of a commit. It reports whether the page is full, or the only file was read.
func (r *reader) entry(ref output.Ref, from position) (over bool, err error) {
	if err := r.ctx.Err(); err != nil {
		return false, err
	}
	commit, err := r.out.Read(ref)
	if err != nil {
		return false, fmt.Errorf("read commit %s: %w", ref, err)
	}
	for i := from.file; i < len(commit.Files); i++ {
		f, skip := &commit.Files[i], 0
		if i == from.file {
			skip = from.record
		}
		if f.IndexOf != "" || !r.choice.has(f) {
			r.note(f)
			continue
		}
		full, err := r.file(f, position{ref.String(), i, skip})
		if err != nil || full || r.choice.File != "" {
			return true, err
		}
	}
	return false, nil
}

// note remembers the kinds of a file that lacks the selected one.
func (r *reader) note(f *output.File) {
	if r.choice.Crawl == "" || f.Crawl == r.choice.Crawl {
		r.kinds[f.Kind] = true
		for kind := range f.Kinds {
			r.kinds[kind] = true
		}
	}
}

// has reports whether a file may have selected records.
func (c Choice) has(f *output.File) bool {
	return (c.Crawl == "" || f.Crawl == c.Crawl) && (c.Kind == "" || f.RecordsOf(c.Kind) > 0) && (c.File == "" || f.Path == c.File)
}

// errFull stops reading a file.
var errFull = errors.New("the page is full")

func (r *reader) file(f *output.File, at position) (full bool, err error) {
	if ageencrypt.Is(f.Path) {
		return false, ErrEncrypted
	}
	in, err := r.out.Open(*f)
	if errors.Is(err, fs.ErrNotExist) && !output.IsChunk(f.Path) {
		return false, nil // the object was removed since
	}
	if err != nil {
		return false, fmt.Errorf("open %s: %w", f.Path, err)
	}
	defer in.Close()
	n := 0
	_, err = format.EachRecordOf(f, in, ageencrypt.Identities{}, func(line []byte) error {
		if n++; n <= at.record {
			return nil
		}
		if len(r.page.Records) >= r.most || r.bytes >= maxBytes || r.ctx.Err() != nil {
			r.page.Next = position{at.entry, at.file, n - 1}.String()
			return errFull
		}
		if r.choice.Kind == "" || messages.RecordKind(nil, line) == r.choice.Kind {
			r.page.Records = append(r.page.Records, slices.Clone(line))
			r.bytes += len(line)
		}
		return nil
	})
	switch {
	case errors.Is(err, errFull):
		return true, nil
	case errors.Is(err, format.ErrNoRecords):
		r.skipped = f.Path
		return false, nil
	case err != nil:
		return false, fmt.Errorf("read %s: %w", f.Path, err)
	}
	return false, nil
}

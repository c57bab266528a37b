// Package format is how records become the bytes of a chunk, and how those are read back.
//
// A new format is a type that implements Format, in a separate file, and a line in the
// table formats below. It needs besides:
//
//   - an interface of optional_interfaces.go, if it or its encoder can do more than others, and Tabular (below), if it has columns;
//   - its name in TestNamesOfFormats, and a case in unpack (read_formats.go) for a compression that is new;
//   - its name in the help of --format (pkg/stages/writer/config.go), and in docs/reference/output.md,
//     section Formats;
//   - another program that reads it, in foreign_test.go.
//
// Files of one record each have a separate table: bodies (objects.go). A new place, as
// a database, is another job: see package output.
package format

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"seine/internal/output"
	"seine/internal/output/compress"
	"seine/internal/output/warc"
)

// Record is what chunks are made of.
type Record struct {
	ID     string    // its identity
	Kind   string    // what the spec calls it; "page" for that of a whole page
	Stored time.Time // when the stream took it
	Header nats.Header
	// Data is the record: of RECORDS and RESULTS an object of JSON on one line.
	Data []byte
	// Page is what Data is of PAGES; nil of the other streams.
	Page *Page
}

// Format is how records become the bytes of a chunk. It is safe for concurrent
// use.
type Format interface {
	// Ext is what the names of chunks in this format end in, without a dot at
	// the start.
	Ext() string
	// NewEncoder begins the chunk of a group on w. A chunk that is abandoned is
	// dropped, not closed: an encoder must not need Close to free what it holds.
	NewEncoder(w io.Writer, g output.Group) (Encoder, error)
}

// Encoder writes one chunk. One goroutine uses it at a time.
type Encoder interface {
	// Append adds a record, which was checked. It must not keep or change what r
	// points to. After an error, unless it is a RefusedError, the chunk is abandoned.
	Append(r *Record) error
	// Close writes what makes the chunk complete. It does not close the writer
	// below. The encoder is not used after it.
	Close() error
}

// Tabular is an Encoder of a chunk with columns.
type Tabular interface {
	// Columns returns the columns of the chunk, as its log tells them.
	Columns() []output.Column
}

// Options are what formats want to know.
type Options struct {
	// Columns returns the columns that the records of a kind have in the formats
	// that have columns; Envelope is for kinds of which nothing is known. What a
	// record has beyond them is in the column More. An error gives the chunk up. It
	// is safe for concurrent use.
	Columns func(crawl, kind string) ([]Column, error)
	// CSVSafe keeps spreadsheets from taking a text in CSV for a formula.
	CSVSafe bool
	// CSVOnly leaves the column More out of CSV.
	CSVOnly bool
	// CSVBOM begins each file of CSV with a byte order mark.
	CSVBOM bool
	// SortedByURL sorts the records of each row group of Parquet, which are held in memory until then: 4 MiB.
	SortedByURL bool
}

// columns returns the columns of a chunk.
func (o *Options) columns(g output.Group) ([]Column, error) {
	columns, err := o.Columns(g.Crawl, g.Kind)
	if err != nil {
		return nil, fmt.Errorf("find the columns of %s: %w", g.Kind, err)
	}
	return usable(columns), nil
}

// entry is a format that can be named.
type entry struct {
	name string
	// media is the media type of its files: see MediaType.
	media string
	// columns says that its chunks have columns, and so records of one kind, and need Options.Columns.
	columns bool
	// read reads its files back, decompressed (read_formats.go); nil is for other programs to read.
	read func(r io.Reader, do func(record []byte) error) error
	make func(Options) Format
}

// formats are all formats, in the order of messages and help. The package comment says what a new one needs.
var formats = []entry{
	{"jsonl", "application/x-ndjson", false, linesIn, func(Options) Format { return jsonLines{"jsonl", whole{compress.None()}} }},
	{"jsonl.gz", gzipMedia, false, linesIn, func(Options) Format { return jsonLines{"jsonl.gz", whole{compress.Gzip()}} }},
	{"jsonl.zst", zstdMedia, false, linesIn, func(Options) Format { return jsonLines{"jsonl.zst", newZstandard(zstdFrame)} }},
	{"json", "application/json", false, elementsIn, func(Options) Format { return jsonArray{whole{compress.None()}} }},
	{"csv", "text/csv; charset=utf-8; header=present", true, nil, func(o Options) Format { return csv{"csv", whole{compress.None()}, o} }},
	{"csv.gz", gzipMedia, true, nil, func(o Options) Format { return csv{"csv.gz", whole{compress.Gzip()}, o} }},
	{"csv.zst", zstdMedia, true, nil, func(o Options) Format { return csv{"csv.zst", newZstandard(zstdFrame), o} }},
	{"parquet", "application/vnd.apache.parquet", true, rowsIn, func(o Options) Format { return parquetFormat{o} }},
	{"warc", "application/warc", false, nil, func(Options) Format { return archive{warc.None()} }},
	{"warc.gz", gzipMedia, false, nil, func(Options) Format { return archive{warc.Gzip()} }},
	{"warc.zst", zstdMedia, false, nil, func(Options) Format { return archive{warc.Zstd()} }},
}

// find returns the format of a name, the zero value if there is none.
func find(name string) entry {
	i := slices.IndexFunc(formats, func(e entry) bool { return e.name == name })
	if i < 0 {
		return entry{}
	}
	return formats[i]
}

// HasColumns reports whether the chunks of a format have columns. Then they are of
// one kind of record each.
func HasColumns(name string) bool { return find(name).columns }

// New returns the format of a name, and whether there is one.
func New(name string, o Options) (Format, bool) {
	e := find(name)
	if e.make == nil {
		return nil, false
	}
	return e.make(o), true
}

// Names returns the names of the formats as a sentence has them.
func Names() string {
	var names []string
	for _, e := range formats {
		names = append(names, e.name)
	}
	return oneOf(append(names, BodyNames()...))
}

// oneOf joins names as a sentence that leaves a choice has them.
func oneOf(names []string) string {
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// FromRecords is what --from must be for formats of records of pages.
const FromRecords = "records"

// FromPages is what --from must be for formats of whole pages.
const FromPages = "pages"

// OfPages reports whether a format is made of whole pages: archives, and files of the bodies of pages.
func OfPages(name string) bool { return IsArchive(name) || name == rawName }

// CheckSource says why a format cannot be that of a stream, as --from names it.
func CheckSource(name, from string) error {
	switch {
	case name == Markdown && from != FromRecords:
		return errors.New("is made of the records of pages: writer --from records takes it")
	case OfPages(name) && from != FromPages:
		return errors.New("is made of pages: writer --from pages takes it; seine crawl archives pages with --warc DIR")
	case !OfPages(name) && from == FromPages:
		return errors.New("is made of records: of pages, make warc.gz or objects.raw")
	}
	return nil
}

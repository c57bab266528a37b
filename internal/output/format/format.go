// Package format encodes records as the bytes of a chunk, and decodes them.
//
// To add a format, write a type that implements Format in a separate file, and add a line to the
// table formats below. It also needs:
//
//   - an interface of optional_interfaces.go, if it or its encoder can do more than others, and
//     Tabular (below), if it has columns;
//   - its name in TestNamesOfFormats, and a case in unpack (read_formats.go) for a new compression;
//   - its name in the help of --format (pkg/stages/writer/config.go), and in
//     docs/reference/output.md, section Formats;
//   - another program that reads it, in foreign_test.go.
//
// Files of one record each have a separate table: bodies (objects.go). For a new destination, such
// as a database, see package output.
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

// Record is one record of a chunk.
type Record struct {
	ID     string    // identity
	Kind   string    // record kind of the spec; "page" for a whole page
	Stored time.Time // when the message was stored in the stream
	Header nats.Header
	// Data is the message: a JSON object on one line for RECORDS and RESULTS.
	Data []byte
	// Page is the decoded page for PAGES, and nil for other streams.
	Page *Page
}

// Format encodes records as the bytes of a chunk. It is safe for concurrent use.
type Format interface {
	// Ext is the extension of chunks in this format, without a leading dot.
	Ext() string
	// NewEncoder begins the chunk of a group on w. An abandoned chunk's encoder is dropped without
	// Close, so it must not hold resources that only Close frees.
	NewEncoder(w io.Writer, g output.Group) (Encoder, error)
}

// Encoder writes one chunk. One goroutine uses it at a time.
type Encoder interface {
	// Append adds a record, which was validated. It must not keep or change anything that r points
	// to. After any error except a RefusedError, the chunk is abandoned.
	Append(r *Record) error
	// Close completes the chunk. It does not close the underlying writer. The encoder is not used
	// afterwards.
	Close() error
}

// Tabular is an Encoder of a chunk with columns.
type Tabular interface {
	// Columns returns the columns of the chunk as its log entry lists them.
	Columns() []output.Column
}

// Options configure formats.
type Options struct {
	// Columns returns the columns of the records of a kind, for formats that have columns; it
	// returns Envelope for an unknown kind. Other members of a record go to the column More. An
	// error abandons the chunk. It is safe for concurrent use.
	Columns func(crawl, kind string) ([]Column, error)
	// CSVSafe escapes texts in CSV that spreadsheets may evaluate as formulas.
	CSVSafe bool
	// CSVOnly omits the column More from CSV.
	CSVOnly bool
	// CSVBOM begins each CSV file with a byte order mark.
	CSVBOM bool
	// SortedByURL sorts the records of each Parquet row group, holding 4 MiB of them in memory.
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

// entry is a format with a name.
type entry struct {
	name string
	// media is the media type of its files: see MediaType.
	media string
	// columns is whether its chunks have columns, and so records of one kind, and need
	// Options.Columns.
	columns bool
	// read decodes its decompressed files (read_formats.go); nil if only other programs read the
	// format.
	read func(r io.Reader, do func(record []byte) error) error
	make func(Options) Format
}

// formats are all formats, in the order of messages and help. The package comment lists the steps
// to add one.
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

// find returns the format with this name, or the zero value.
func find(name string) entry {
	i := slices.IndexFunc(formats, func(e entry) bool { return e.name == name })
	if i < 0 {
		return entry{}
	}
	return formats[i]
}

// HasColumns reports whether the chunks of a format have columns. Each of them then has records of
// one kind.
func HasColumns(name string) bool { return find(name).columns }

// New returns the format with this name, and whether it exists.
func New(name string, o Options) (Format, bool) {
	e := find(name)
	if e.make == nil {
		return nil, false
	}
	return e.make(o), true
}

// Names returns the names of the formats, joined for a sentence.
func Names() string {
	var names []string
	for _, e := range formats {
		names = append(names, e.name)
	}
	return oneOf(append(names, BodyNames()...))
}

// oneOf joins names with commas and "or".
func oneOf(names []string) string {
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// FromRecords is the required --from of formats for records of pages.
const FromRecords = "records"

// FromPages is the required --from of formats for whole pages.
const FromPages = "pages"

// OfPages reports whether a format stores whole pages: archives, and files of page bodies.
func OfPages(name string) bool { return IsArchive(name) || name == rawName }

// CheckSource returns an error if a format cannot store the stream that --from names.
func CheckSource(name, from string) error {
	switch {
	case name == Markdown && from != FromRecords:
		return errors.New("needs the records of pages: use writer --from records")
	case OfPages(name) && from != FromPages:
		return errors.New("needs pages: use writer --from pages; seine crawl archives pages with --warc DIR")
	case !OfPages(name) && from == FromPages:
		return errors.New("needs records: for pages, use warc.gz or objects.raw")
	}
	return nil
}

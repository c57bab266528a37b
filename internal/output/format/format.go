// Package format is how records become the bytes of a chunk.
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
	// NewEncoder begins the chunk of a group on w. A chunk that is given up is
	// dropped, not closed: an encoder must not need Close to free what it holds.
	NewEncoder(w io.Writer, g output.Group) (Encoder, error)
}

// Encoder writes one chunk. One goroutine uses it at a time.
type Encoder interface {
	// Append adds a record, which was checked. It must not keep or change what r
	// points to. After an error, unless it is a RefusedError, the chunk is given up.
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
	// CSVBOM begins each file of CSV with a byte order mark.
	CSVBOM bool
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
	make func(Options) Format
}

// formats are the formats there are, in the order in which they are told: a new one is a type that implements Format, in
// a file of its own, and a line here. One whose encoder can do more implements an interface of encoder_interfaces.go;
// one that Seine reads back is in readable (read_formats.go) and in looksLikeRecords of cmd/seine/cat.go; the help of --format names
// it (pkg/stages/writer/config.go). Files of one record each have a table of their own: bodies, in objects.go.
var formats = []entry{
	{"jsonl", func(Options) Format { return jsonLines{"jsonl", plain{}} }},
	{"jsonl.gz", func(Options) Format { return jsonLines{"jsonl.gz", new(gzipped)} }},
	{"jsonl.zst", func(Options) Format { return jsonLines{"jsonl.zst", newZstandard()} }},
	{"json", func(Options) Format { return jsonArray{plain{}} }},
	{"csv", func(o Options) Format { return csv{"csv", plain{}, o} }},
	{"csv.gz", func(o Options) Format { return csv{"csv.gz", new(gzipped), o} }},
	{"csv.zst", func(o Options) Format { return csv{"csv.zst", newZstandard(), o} }},
	{"parquet", func(o Options) Format { return parquetFormat{o} }},
	{"warc", func(Options) Format { return archive{warc.None()} }},
	{"warc.gz", func(Options) Format { return archive{warc.Gzip()} }},
	{"warc.zst", func(Options) Format { return archive{warc.Zstd()} }},
}

// withColumns are the formats whose chunks have columns, and so records of one
// kind, and need Options.Columns.
var withColumns = []string{"csv", "csv.gz", "csv.zst", "parquet"}

// HasColumns reports whether the chunks of a format have columns. Then they are of
// one kind of record each.
func HasColumns(name string) bool { return slices.Contains(withColumns, name) }

// New returns the format of a name, and whether there is one.
func New(name string, o Options) (Format, bool) {
	i := slices.IndexFunc(formats, func(e entry) bool { return e.name == name })
	if i < 0 {
		return nil, false
	}
	return formats[i].make(o), true
}

// Names returns the names of the formats as a sentence has them.
func Names() string {
	var names []string
	for _, e := range formats {
		names = append(names, e.name)
	}
	names = append(names, BodyNames()...)
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// CheckSource says why a format cannot be that of a stream, as --from names it.
func CheckSource(f Format, from string) error {
	need := ""
	if s, ok := f.(StreamBound); ok {
		need = s.From()
	}
	switch {
	case need != "" && need != from:
		return fmt.Errorf("is made of %s: writer --from %s takes it; seine crawl archives pages with --warc DIR", need, need)
	case need == "" && from == FromPages:
		return errors.New("is made of records: of pages, make warc.gz")
	}
	return nil
}

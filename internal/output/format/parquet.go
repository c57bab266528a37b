package format

import (
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	parquetzstd "github.com/parquet-go/parquet-go/compress/zstd"

	"seine/internal/base/jsontext"
	"seine/internal/output"
	"seine/internal/output/compress"
)

// parquetFormat is Apache Parquet with pages in Zstandard. All columns are optional. Lists have
// optional elements, as in the format's LogicalTypes.
type parquetFormat struct{ Options }

func (parquetFormat) Ext() string { return "parquet" }

const (
	// rowGroup is the minimum size of the records of a row group, as JSON. An open chunk holds the
	// compressed pages of one row group, an open page of each column, and the footer's description
	// of earlier groups: 2.3 MiB with records of pages, 6 MiB with 256 columns
	// (BenchmarkOpenChunks). So a writer of 16 partitions uses 194 MB in all, and 218 MB with pages
	// twice as large, for files that are 1 % smaller (docs/benchmarks.md).
	rowGroup = 4 << 20
	pageSize = 128 << 10 // minimum, before compression
	// Values are written in batches of at most this many rows and bytes of text.
	batchRows  = 64
	batchBytes = 64 << 10
)

// pageCodec compresses pages. The codec of parquet-go keeps compressors with a window of 4 MiB,
// which take 8 MB each, and there may be one for every partition.
type pageCodec struct {
	parquetzstd.Codec
	pool sync.Pool
}

var parquetCodec = new(pageCodec)

// Encode compresses a page.
func (c *pageCodec) Encode(dst, src []byte) ([]byte, error) {
	z, ok := c.pool.Get().(*zstd.Encoder)
	if !ok {
		// Pages have separate checksums, and may be empty.
		z = compress.NewZstd(append(zstdOptions, zstd.WithEncoderCRC(false), zstd.WithZeroFrames(true))...)
	}
	defer c.pool.Put(z)
	return z.EncodeAll(src, dst[:0]), nil
}

// searched are the columns in which readers look up single values. Their row groups have bounds and
// a Bloom filter, since rows are in the order of the crawl.
var searched = []string{"url", "key"}

func (f parquetFormat) NewEncoder(w io.Writer, g output.Group) (Encoder, error) {
	columns, err := f.columns(g)
	if err != nil {
		return nil, err
	}
	options := []parquet.WriterOption{
		schemaOf(g.Kind, columns), parquet.Compression(parquetCodec),
		// Arrow and Spark write version 1, and all readers read it.
		parquet.DataPageVersion(1), parquet.DataPageStatistics(false), parquet.PageBufferSize(pageSize),
	}
	for _, c := range columns {
		switch {
		case !c.List && slices.Contains(searched, c.Name):
			options = append(options, parquet.BloomFilters(parquet.SplitBlockFilter(10, c.Name)))
		case c.Type == Text || c.Type == JSON: // bounds of the pages of a crawl do not help searches
			options = append(options, parquet.SkipPageBounds(leafPath(c)...))
		}
	}
	out := parquet.NewGenericWriter[any](w, append(options, parquet.SkipPageBounds(More))...)
	e := &parquetFile{out: out, writers: out.ColumnWriters(), row: newRow(columns)}
	e.values = make([][]parquet.Value, len(e.writers))
	if f.SortedByURL {
		return &sortedFile{parquetFile: e}, nil
	}
	return e, nil
}

// parquetFile writes a file by columns, so that parquet-go need not assemble rows and split them
// again.
type parquetFile struct {
	out     *parquet.GenericWriter[any]
	writers []*parquet.ColumnWriter
	row     *row
	values  [][]parquet.Value // of the batch, by column
	texts   []byte            // backing array of values
	rows    int               // rows in the batch
	raw     int               // bytes of the records of the row group
}

func (f *parquetFile) Append(r *Record) error {
	f.row.read(r.Data)
	for i := range f.row.cells {
		f.values[i] = f.cell(f.values[i], i, &f.row.columns[i], &f.row.cells[i])
	}
	last := len(f.row.cells)
	if len(f.row.more) > 0 {
		f.values[last] = append(f.values[last], f.bytes(f.row.more).Level(0, 1, last))
	} else {
		f.values[last] = append(f.values[last], parquet.NullValue().Level(0, 0, last))
	}
	f.rows++
	f.raw += len(r.Data) + 1
	if f.rows < batchRows && len(f.texts) < batchBytes && f.raw < rowGroup {
		return nil
	}
	if err := f.flushBatch(); err != nil || f.raw < rowGroup {
		return err
	}
	f.raw = 0
	return f.out.Flush()
}

// sortedFile sorts the records of each row group by URL. It holds them until the group is complete.
type sortedFile struct {
	*parquetFile
	group []sortedRecord
	raw   int // bytes of the records of the group
}

type sortedRecord struct {
	url string
	*Record
}

func (f *sortedFile) Append(r *Record) error {
	var head struct {
		URL string `json:"url"`
	}
	_ = jsontext.Unmarshal(r.Data, &head) // a record without a URL sorts first
	held := *r
	held.Data = slices.Clone(r.Data)
	f.group = append(f.group, sortedRecord{head.URL, &held})
	if f.raw += len(r.Data) + 1; f.raw < rowGroup {
		return nil
	}
	return f.sort()
}

func (f *sortedFile) sort() error {
	slices.SortStableFunc(f.group, func(a, b sortedRecord) int { return strings.Compare(a.url, b.url) })
	for _, r := range f.group {
		if err := f.parquetFile.Append(r.Record); err != nil {
			return err
		}
	}
	clear(f.group)
	f.group, f.raw = f.group[:0], 0
	return nil
}

func (f *sortedFile) Close() error {
	if err := f.sort(); err != nil {
		return err
	}
	return f.parquetFile.Close()
}

func (f *parquetFile) flushBatch() error {
	for i, w := range f.writers {
		if _, err := w.WriteRowValues(f.values[i]); err != nil {
			return err
		}
		clear(f.values[i])
		f.values[i] = f.values[i][:0]
	}
	f.rows, f.texts = 0, f.texts[:0]
	if cap(f.texts) > 4*batchBytes {
		f.texts = nil
	}
	return nil
}

func (f *parquetFile) Close() error {
	if err := f.flushBatch(); err != nil {
		return err
	}
	return f.out.Close()
}

// cell appends the value of column i, or the values of a list. The levels are Dremel's: they
// distinguish a missing list from an empty one, and mark where a list begins.
func (f *parquetFile) cell(to []parquet.Value, i int, c *Column, v *cell) []parquet.Value {
	switch {
	case v.raw == nil:
		return append(to, parquet.NullValue().Level(0, 0, i))
	case !c.List:
		return append(to, f.value(c.Type, v).Level(0, 1, i))
	}
	m := jsontext.MembersOf(v.raw)
	repetition := 0
	for raw, ok := m.Element(); ok; raw, ok = m.Element() {
		element := cell{}
		if string(raw) == "null" {
			to = append(to, parquet.NullValue().Level(repetition, 2, i))
		} else {
			c.readScalar(raw, &element) // it fits, otherwise the list would be in More
			to = append(to, f.value(c.Type, &element).Level(repetition, 3, i))
		}
		repetition = 1
	}
	if repetition == 0 {
		to = append(to, parquet.NullValue().Level(0, 1, i))
	}
	return to
}

func (f *parquetFile) value(t Type, v *cell) parquet.Value {
	switch t {
	case Integer, Time:
		return parquet.Int64Value(v.n)
	case Number:
		return parquet.DoubleValue(v.f)
	case Bool:
		return parquet.BooleanValue(v.n != 0)
	case JSON:
		return f.bytes(v.raw)
	default:
		if v.raw[0] != '"' {
			return f.bytes(v.raw)
		}
		from := len(f.texts)
		f.texts = jsontext.AppendText(f.texts, v.raw[1:len(v.raw)-1])
		return parquet.ByteArrayValue(f.texts[from:])
	}
}

// bytes copies b, which belongs to the caller of Append.
func (f *parquetFile) bytes(b []byte) parquet.Value {
	from := len(f.texts)
	f.texts = append(f.texts, b...)
	return parquet.ByteArrayValue(f.texts[from:])
}

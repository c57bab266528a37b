package format

import (
	stdcsv "encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"

	"seine/internal/base/cputime"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

const benchRecords = 3000

// pageRow is a page record for parquet-go's struct writer, with the same columns as ours.
type pageRow struct {
	URL         *string    `parquet:"url,optional,plain"`
	Status      *int64     `parquet:"status,optional"`
	ContentType *string    `parquet:"content_type,optional,plain"`
	Title       *string    `parquet:"title,optional,plain"`
	Description *string    `parquet:"description,optional,plain"`
	Canonical   *string    `parquet:"canonical,optional,plain"`
	Language    *string    `parquet:"language,optional,plain"`
	Charset     *string    `parquet:"charset,optional,plain"`
	NoIndex     *bool      `parquet:"noindex,optional"`
	Text        *string    `parquet:"text,optional,plain"`
	FetchedAt   *time.Time `parquet:"fetched_at,optional,timestamp(microsecond)"`
	Depth       *int64     `parquet:"depth,optional"`
	Referrer    *string    `parquet:"referrer,optional,plain"`
	Crawl       *string    `parquet:"crawl,optional,plain"`
	Visit       *string    `parquet:"visit,optional,plain"`
	DuplicateOf *string    `parquet:"duplicate_of,optional,plain"`
	More        *string    `parquet:"_more,optional,plain"`
}

func pageRows(records []*messages.Record) []pageRow {
	rows := make([]pageRow, len(records))
	for i, r := range records {
		status, depth, visit := int64(r.Status), int64(r.Depth), r.Visit.String()
		rows[i] = pageRow{
			URL: &r.URL, Status: &status, ContentType: &r.ContentType, Title: &r.Title, Description: &r.Description,
			Canonical: &r.Canonical, Language: &r.Language, Charset: &r.Charset, NoIndex: &r.NoIndex, Text: &r.Text,
			FetchedAt: &r.FetchedAt, Depth: &depth, Referrer: &r.Referrer, Crawl: &r.Crawl, Visit: &visit,
		}
	}
	return rows
}

// product is a small record, as made by rules.
type product struct {
	Kind      *string    `json:"kind" parquet:"kind,optional,plain"`
	URL       *string    `json:"url" parquet:"url,optional,plain"`
	FetchedAt *time.Time `json:"fetched_at" parquet:"fetched_at,optional,timestamp(microsecond)"`
	Crawl     *string    `json:"crawl" parquet:"crawl,optional,plain"`
	Visit     *string    `json:"visit" parquet:"visit,optional,plain"`
	Key       *string    `json:"key" parquet:"key,optional,plain"`
	Title     *string    `json:"title" parquet:"title,optional,plain"`
	Price     *float64   `json:"price" parquet:"price,optional"`
	Stock     *int64     `json:"stock" parquet:"stock,optional"`
	More      *string    `json:"-" parquet:"_more,optional,plain"`
}

var productColumns = []Column{
	{Name: "kind"}, {Name: "url"}, {Name: "fetched_at", Type: Time}, {Name: "crawl"}, {Name: "visit"}, {Name: "key"},
	{Name: "title"}, {Name: "price", Type: Number}, {Name: "stock", Type: Integer},
}

func products(n int) (rows []product, lines []*Record) {
	for i := range n {
		kind, url, at, crawl := "product", fmt.Sprintf("https://shop.example/p/%d", i), page(i%100).FetchedAt, "bench"
		visit, key, title := messages.HashURL(url).String()+".1", fmt.Sprint("sku-", i), fmt.Sprint("A thing of sort ", i%977)
		price, stock := float64(i%10007)/100, int64(i%31)
		p := product{&kind, &url, &at, &crawl, &visit, &key, &title, &price, &stock, nil}
		line, err := json.Marshal(&p)
		if err != nil {
			panic(err)
		}
		rows, lines = append(rows, p), append(lines, &Record{Data: line})
	}
	return rows, lines
}

// BenchmarkParquet compares our encoder with parquet-go, which gets the records as structs. The
// ratio is our speed divided by its speed.
func BenchmarkParquet(b *testing.B) {
	b.Run("pages", func(b *testing.B) {
		records, lines := pages(benchRecords)
		rows := pageRows(records)
		beside(b, lines, newFormat(b, "parquet", ofPages()), func(w io.Writer) error { return bareParquet(w, rows) })
	})
	b.Run("products", func(b *testing.B) {
		rows, lines := products(50_000)
		beside(b, lines, newFormat(b, "parquet", with(productColumns)), func(w io.Writer) error { return bareParquet(w, rows) })
	})
}

func bareParquet[T any](w io.Writer, rows []T) error {
	out := parquet.NewGenericWriter[T](w, parquet.Compression(parquetCodec), parquet.DataPageVersion(1), parquet.DataPageStatistics(false))
	if _, err := out.Write(rows); err != nil {
		return err
	}
	return out.Close()
}

// BenchmarkJSONLines compares jsonl.zst with the compressor alone, with its default settings.
func BenchmarkJSONLines(b *testing.B) {
	_, lines := pages(benchRecords)
	beside(b, lines, newFormat(b, "jsonl.zst", Options{}), func(w io.Writer) error {
		z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
		if err != nil {
			return err
		}
		for _, r := range lines {
			_, _ = z.Write(r.Data)
			_, _ = z.Write(lineFeed)
		}
		return z.Close()
	})
}

// BenchmarkCSV compares csv with encoding/csv, which gets the fields as texts.
func BenchmarkCSV(b *testing.B) {
	records, lines := pages(benchRecords)
	beside(b, lines, newFormat(b, "csv", ofPages()), func(w io.Writer) error {
		out := stdcsv.NewWriter(w)
		out.UseCRLF = true
		for _, r := range records {
			_ = out.Write([]string{r.URL, strconv.Itoa(r.Status), r.ContentType, r.Title, r.Description, r.Canonical, r.Language,
				r.Charset, strconv.FormatBool(r.NoIndex), r.Text, r.FetchedAt.Format(time.RFC3339Nano), strconv.Itoa(r.Depth),
				r.Referrer, r.Crawl, r.Visit.String(), "", ""})
		}
		out.Flush()
		return out.Error()
	})
}

// beside measures a format and a bare encoder in turns, in processor time, since other processes
// use the machine too.
func beside(b *testing.B, lines []*Record, f Format, bare func(io.Writer) error) {
	var ours, theirs time.Duration
	var size, bareSize counter
	var raw int64
	for _, r := range lines {
		raw += int64(len(r.Data)) + 1
	}
	for b.Loop() {
		size, bareSize = 0, 0
		runtime.GC()
		start := cputime.Used()
		fatal(b, bare(&bareSize))
		theirs += cputime.Used() - start
		runtime.GC()
		start = cputime.Used()
		e, err := f.NewEncoder(&size, group)
		fatal(b, err)
		for _, r := range lines {
			fatal(b, e.Append(r))
		}
		fatal(b, e.Close())
		ours += cputime.Used() - start
	}
	mb := float64(raw) * float64(b.N) / 1e6
	b.ReportMetric(mb/ours.Seconds(), "MB/s")
	b.ReportMetric(mb/theirs.Seconds(), "bare-MB/s")
	b.ReportMetric(theirs.Seconds()/ours.Seconds(), "ratio")
	b.ReportMetric(float64(size)/float64(raw), "size")
	b.ReportMetric(float64(bareSize)/float64(raw), "bare-size")
}

// BenchmarkOpenChunks reports the maximum memory of an open chunk: just before a row group is
// written.
func BenchmarkOpenChunks(b *testing.B) {
	_, lines := pages(1000)
	const chunks = 16
	wide := ofPages()
	for n := range maxColumns {
		columns, _ := wide.Columns("", "")
		wide = with(append(columns, Column{Name: fmt.Sprint("field", n)}))
	}
	for _, c := range []struct {
		name   string
		format Format
	}{
		{"jsonl.zst", newFormat(b, "jsonl.zst", Options{})}, {"csv.zst", newFormat(b, "csv.zst", ofPages())},
		{"parquet", newFormat(b, "parquet", ofPages())}, {"parquet of 256 columns", newFormat(b, "parquet", wide)},
	} {
		b.Run(c.name, func(b *testing.B) {
			most := uint64(0)
			for b.Loop() {
				var before, now runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&before)
				var open [chunks]Encoder
				for i := range open {
					open[i], _ = c.format.NewEncoder(io.Discard, group)
				}
				for n, r := range lines {
					for _, e := range open {
						fatal(b, e.Append(r))
					}
					if n%50 == 49 {
						runtime.GC()
						runtime.ReadMemStats(&now)
						most = max(most, now.HeapAlloc-before.HeapAlloc)
					}
				}
				runtime.KeepAlive(open)
			}
			b.ReportMetric(float64(most)/chunks/(1<<20), "MiB/chunk")
		})
	}
}

// BenchmarkReadRow measures splitting a record into columns.
func BenchmarkReadRow(b *testing.B) {
	_, ofPages := pages(500)
	_, ofProducts := products(5000)
	spec := crawlspec.Default()
	for _, c := range []struct {
		name    string
		columns []Column
		lines   []*Record
	}{{"pages", ColumnsOf(&spec, messages.KindPage), ofPages}, {"products", productColumns, ofProducts}} {
		size := 0
		for _, l := range c.lines {
			size += len(l.Data)
		}
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(size))
			r := newRow(c.columns)
			for b.Loop() {
				for _, l := range c.lines {
					r.read(l.Data)
				}
			}
		})
		b.Run(c.name+" into a map", func(b *testing.B) {
			b.SetBytes(int64(size))
			for b.Loop() {
				for _, l := range c.lines {
					var m map[string]any
					fatal(b, json.Unmarshal(l.Data, &m))
				}
			}
		})
	}
}

package writer

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/nats-io/nats.go"
	"github.com/parquet-go/parquet-go"

	"seine/internal/output"
	"seine/internal/output/format"
	"seine/internal/run/specfile"
	"seine/internal/testing/await"
	"seine/internal/testing/duckdb"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// rowsOf returns the JSON records that record made, from a chunk with columns: one column has the
// crawl, the last one the fields that the spec does not define.
func rowsOf(t testing.TB, r io.Reader, name string) (lines []string) {
	t.Helper()
	for _, row := range tableOf(t, r, name) {
		line := fmt.Sprintf(`"crawl":%q,%s`, row["crawl"], row[format.More][1:])
		if url := row["url"]; url != "" {
			line = fmt.Sprintf(`"url":%q,%s`, url, line)
		}
		lines = append(lines, "{"+line)
	}
	return lines
}

// tableOf returns the rows of a chunk as strings by column, without empty values.
func tableOf(t testing.TB, r io.Reader, name string) []map[string]string {
	t.Helper()
	switch {
	case strings.HasSuffix(name, ".zst"):
		z, err := zstd.NewReader(r)
		check(t, err)
		defer z.Close()
		r = z
	case strings.HasSuffix(name, ".gz"):
		z, err := gzip.NewReader(r)
		check(t, err)
		r = z
	}
	data, err := io.ReadAll(r)
	check(t, err)
	if strings.HasSuffix(name, ".parquet") {
		return parquetRows(t, data)
	}
	table, err := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff")))).ReadAll()
	check(t, err)
	rows := make([]map[string]string, len(table)-1)
	for i, line := range table[1:] {
		rows[i] = make(map[string]string)
		for n, v := range line {
			if v != "" {
				rows[i][table[0][n]] = v
			}
		}
	}
	return rows
}

func parquetRows(t testing.TB, data []byte) (rows []map[string]string) {
	t.Helper()
	in := parquet.NewReader(bytes.NewReader(data))
	names := in.Schema().Columns()
	buffer := make([]parquet.Row, 16)
	for {
		n, err := in.ReadRows(buffer)
		for _, row := range buffer[:n] {
			values := make(map[string]string)
			for _, v := range row {
				if !v.IsNull() {
					values[names[v.Column()][0]] = v.String()
				}
			}
			rows = append(rows, values)
		}
		if errors.Is(err, io.EOF) {
			return rows
		}
		check(t, err)
	}
}

// Each kind of record has the columns of the crawl's spec, as it is when the file begins.
func TestColumnsAreThoseOfTheSpec(t *testing.T) {
	t.Parallel()
	bus := startBus(t, false)
	specs, err := stages.OpenSpecs(t.Context(), bus)
	check(t, err)
	store := func(text string) {
		t.Helper()
		spec, err := specfile.Load("spec.yaml", []byte(text))
		check(t, err)
		_, err = specs.Put(t.Context(), "a", spec)
		check(t, err)
	}
	store("page: {emit: always}\nrecords: [{kind: product, fields: {price: {css: .p, as: number}}}]")
	cfg := testConfig(t)
	cfg.Format = "parquet"
	w := start(t, bus, cfg)
	send := func(n int, line string) {
		t.Helper()
		m := record("a", n*partitions, 0)
		m.Header.Set(nats.MsgIdHdr, fmt.Sprint("own.", n))
		m.Data = []byte(line)
		check(t, stages.NewPublisher(bus, "test").Publish(t.Context(), m))
	}
	send(0, `{"kind":"product","url":"u","price":1.5,"stock":2}`)
	send(1, `{"kind":"product","url":"u","price":"dear"}`)
	send(2, `{"url":"u","title":"t","fetched_at":"2026-01-02T03:04:05Z"}`)
	send(3, `{"kind":"mine","url":"u","a":[1]}`)
	await.Eventually(t, "commit", func() bool { return w.Totals().Records == 4 })
	store("page: {emit: always}\nrecords: [{kind: product, fields: {price: {css: .p, as: number}, stock: {css: .s, as: integer}}}]")
	await.Eventually(t, "a file with the new column", func() bool {
		send(int(w.Totals().Records), `{"kind":"product","url":"u","price":1.5,"stock":2}`)
		before := w.Totals().Files
		await.Eventually(t, "commit", func() bool { return w.Totals().Files > before })
		return slices.Contains(productRows(t, cfg), "price=1.5 stock=2")
	})
	w.end()
	got := productRows(t, cfg)
	if got[0] != `_more={"stock":2} price=1.5` || got[1] != `_more={"price":"dear"}` {
		t.Errorf("products %q", got)
	}
	for kind, want := range map[string]string{
		"page": "fetched_at=1767323045000000 title=t url=u", "mine": `_more={"a":[1]} kind=mine url=u`,
	} {
		if rows := rowsOfKind(t, cfg, kind); len(rows) != 1 || rows[0] != want {
			t.Errorf("%s: %q, want %q", kind, rows, want)
		}
	}
}

// The spec of a kind changes, and another crawl has the same kind. Each file has all columns of the
// files before it, with types that fit their values. So DuckDB reads all files as one table: with
// the columns of the first file, or of all.
func TestFilesOfAKindHaveOneSchema(t *testing.T) {
	t.Parallel()
	bus := startBus(t, false)
	specs, err := stages.OpenSpecs(t.Context(), bus)
	check(t, err)
	cfg := testConfig(t)
	cfg.Format, cfg.ChunkAge = "parquet", crawlspec.Duration(time.Minute)
	for n, v := range []struct{ crawl, fields, record string }{
		{"a", "price: .p, stock: {css: .s, as: integer}, tags: {css: .t, all: true}", `"price":"19.90","stock":1,"tags":["x"]`},
		{"a", "price: {css: .p, as: number}, stock: {css: .s, as: number}, tags: {css: .t, all: true, as: integer}", `"price":9.5,"stock":2.5,"tags":[1,2]`},
		{"b", "price: {css: .p, as: boolean}, extra: {css: .e, as: date}", `"price":true,"extra":"2026-11-28"`},
		{"a", "name: .n", `"name":"last"`},
	} {
		spec, err := specfile.Load("spec.yaml", []byte("records: [{kind: product, fields: {"+v.fields+"}}]"))
		check(t, err)
		_, err = specs.Put(t.Context(), v.crawl, spec)
		check(t, err)
		cfg.State = filepath.Join(t.TempDir(), "state") // as on another machine
		w := start(t, bus, cfg)
		m := record(v.crawl, n*partitions, 0)
		m.Data = fmt.Appendf(nil, `{"kind":"product","url":"u","key":"%d",%s}`, n, v.record)
		check(t, stages.NewPublisher(bus, "test").Publish(t.Context(), m))
		w.catchUp()
		w.end()
	}
	for _, q := range [][2]string{
		{"SELECT key, price, stock FROM read_parquet('a/product/*.parquet') ORDER BY key",
			`{"key":"0","price":"19.90","stock":1} {"key":"1","price":"9.5","stock":2} {"key":"3","price":null,"stock":null}`},
		{"SELECT key FROM read_parquet('*/product/*.parquet') WHERE TRY_CAST(price AS DOUBLE) < 15", `{"key":"1"}`},
		{"SELECT key, price, stock, tags, extra::DATE AS extra, name, _more FROM read_parquet('*/product/*.parquet', union_by_name=true) ORDER BY key",
			`{"key":"0","price":"19.90","stock":1.0,"tags":["x"],"extra":null,"name":null,"_more":null} ` +
				`{"key":"1","price":"9.5","stock":2.5,"tags":["1","2"],"extra":null,"name":null,"_more":null} ` +
				`{"key":"2","price":"true","stock":null,"tags":null,"extra":"2026-11-28","name":null,"_more":null} ` +
				`{"key":"3","price":null,"stock":null,"tags":null,"extra":null,"name":"last","_more":null}`},
	} {
		if got := strings.Join(duckdb.Query(t, cfg.Out, q[0]), " "); got != q[1] {
			t.Errorf("%s\n%s, want\n%s", q[0], got, q[1])
		}
	}
}

// productRows returns the rows of products, without the parts that all rows share.
func productRows(t testing.TB, cfg Config) []string {
	t.Helper()
	rows := rowsOfKind(t, cfg, "product")
	for i, r := range rows {
		rows[i] = strings.NewReplacer(" url=u", "", "kind=product ", "", " kind=product", "").Replace(r)
	}
	return rows
}

// rowsOfKind returns the rows of all committed files of a kind in order, each as values by column
// name.
func rowsOfKind(t testing.TB, cfg Config, kind string) (rows []string) {
	t.Helper()
	commits, err := cfg.ReadCommits()
	check(t, err)
	for _, c := range commits {
		for _, f := range c.Files {
			if f.Kind != kind {
				continue
			}
			in, err := outputOf(t, cfg).Open(f)
			check(t, err)
			for _, row := range tableOf(t, in, f.Path) {
				var fields []string
				for name, v := range row {
					fields = append(fields, name+"="+v)
				}
				slices.Sort(fields)
				rows = append(rows, strings.Join(fields, " "))
			}
			check(t, in.Close())
		}
	}
	return rows
}

// Results have their own columns.
func TestResultsInColumns(t *testing.T) {
	t.Parallel()
	bus := startBus(t, false)
	cfg := testConfig(t)
	cfg.From, cfg.Format = "results", "csv"
	visit := messages.Visit{URL: messages.HashURL("u"), Round: 1}
	r := messages.Result{Crawl: "a", URL: "https://a.example/", Visit: visit, Attempt: 1, Class: messages.OK, Status: 200, Started: time.Unix(0, 0).UTC()}
	m := nats.NewMsg(messages.SubjectResults("a", 1))
	m.Header.Set(nats.MsgIdHdr, r.ID())
	m.Data = r.Encode()
	check(t, stages.NewPublisher(bus, "test").Publish(t.Context(), m))
	w := start(t, bus, cfg)
	w.catchUp()
	w.end()
	want := "attempt=1 class=ok crawl=a started=1970-01-01T00:00:00.000000Z status=200 url=https://a.example/ v=1 visit=" + visit.String()
	if rows := rowsOfKind(t, cfg, "result"); len(rows) != 1 || rows[0] != want {
		t.Errorf("%q, want %q", rows, want)
	}
}

// A file cut off before its commit is written again with the same bytes.
func TestTableIsTheSameAfterACrash(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"csv.zst", "parquet"} {
		t.Run(name, func(t *testing.T) {
			bus := startBus(t, false)
			cfg := testConfig(t)
			cfg.Format, cfg.ChunkAge = name, crawlspec.Duration(time.Minute)
			publish(t, bus, "a", 0, cfg.ChunkRecords*partitions)
			cut := make(map[string][]byte)
			w := start(t, bus, cfg, func(w *Writer) {
				var mu sync.Mutex
				w.hook = func(step string) error {
					mu.Lock()
					defer mu.Unlock()
					if step != output.StepRenamed || len(cut) > 0 {
						return nil
					}
					for _, f := range files(t, cfg.Out) {
						if strings.HasSuffix(f, "."+name) && !strings.HasPrefix(filepath.Base(f), ".") {
							cut[f], _ = os.ReadFile(filepath.Join(cfg.Out, f))
						}
					}
					return errCut
				}
			})
			await.Eventually(t, "all files", func() bool { return w.Totals().Files == partitions })
			w.end()
			if len(cut) == 0 {
				t.Error("nothing was cut off")
			}
			for f, before := range cut {
				after, err := os.ReadFile(filepath.Join(cfg.Out, f))
				check(t, err)
				if !bytes.Equal(before, after) {
					t.Errorf("%s has other bytes than before", f)
				}
			}
		})
	}
}

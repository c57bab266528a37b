package sqlsinktest

import (
	"fmt"
	"testing"
	"time"

	"seine/internal/output/format"
	"seine/internal/output/sqlsink"
	"seine/internal/run/specfile"
	"seine/pkg/messages"
)

// Sizes of Scale: products with a page each, a tenth of which change in each run.
const (
	scaleRuns     = 30
	scaleProducts = 33_400
	scaleAll      = 200_000 // in the last run
)

// scaleQueries are queries over a million events, in SQL that all databases support.
var scaleQueries = [][2]string{
	{"price<10", `SELECT count(*) FROM records_product WHERE price < 10`},
	{"by-key", `SELECT count(price) FROM history_product WHERE key = 'SKU-77'`},
	{"by-url", `SELECT count(price) FROM history_product WHERE url = 'https://a.example/77'`},
	{"last-run", `SELECT count(changed) + count(price) FROM changes_product WHERE run = 30`},
}

// Scale commits a million events of products and reports the times of queries in milliseconds. Then
// it adds products up to scaleAll and reports the times again.
func Scale(b *testing.B, p Fixture) {
	spec, err := specfile.Load("spec.yaml", []byte("records: [{kind: product, key: '{sku}', fields: {"+
		"sku: .s, name: .n, color: .c, brand: .b, price: {css: .p, as: number}, stock: {css: .i, as: integer}, seen: {css: .d, as: date}}}]\n"))
	check(b, err)
	f := sqlsink.Format{Columns: func(_, kind string, _ uint64) ([]format.Column, error) { return format.ColumnsOf(spec, kind), nil }}
	sink, err := p.Open("default", sqlsink.FromRecords)
	check(b, err)
	stay, next := Enter(b, sink, Created), uint64(1)
	put := func(run, from, to int) {
		const perCommit = 10_000
		for ; from < to; from += perCommit {
			all := make([]*format.Record, min(perCommit, to-from))
			for i := range all {
				all[i] = product(run, from+i)
			}
			check(b, stay.CommitAs(f, Created, next, all...))
			next += uint64(len(all))
		}
	}
	figures := make(map[string]float64)
	ask := func(when string) {
		for _, q := range scaleQueries {
			best := time.Hour
			for range 3 {
				began := time.Now()
				p.Ask(q[1])
				best = min(best, time.Since(began))
			}
			figures[q[0]+when] = float64(best.Microseconds()) / 1000
		}
	}
	began := time.Now()
	for run := range scaleRuns {
		put(run+1, 0, scaleProducts)
	}
	figures["events/s"] = float64(next-1) / time.Since(began).Seconds()
	ask("-ms")
	put(scaleRuns, scaleProducts, scaleAll)
	check(b, sink.Close())
	ask("-of-all-ms")
	for b.Loop() { // the measurements are above
	}
	for name, figure := range figures {
		b.ReportMetric(figure, name)
	}
}

// product returns the record of a product in a run.
func product(run, n int) *format.Record {
	url := fmt.Sprintf("https://a.example/%d", n)
	at := Created.Add(time.Duration(run)*time.Hour + time.Duration(n)*time.Millisecond)
	visit := messages.Visit{URL: messages.HashURL(url), Round: uint64(run)}
	line := fmt.Sprintf(`{"kind":"product","url":%q,"fetched_at":%q,"crawl":"a","visit":%q,"run":%d,"key":"SKU-%d","sku":"SKU-%d",`+
		`"name":"The name of the product %d","color":"red","brand":"B%d","price":%d.5,"stock":%d,"seen":"2026-11-28"}`,
		url, at.Format(time.RFC3339Nano), visit, run, n, n, n, n%20, (n+(run+n)/10)%1000, n%7)
	return raw(messages.VisitID("a", visit)+".product.0", "product", line)
}

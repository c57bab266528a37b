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

// An item is gone from the visit that misses it on its page until a visit finds it again, whatever
// the order of the records.
func testGone(t *testing.T, p Fixture) {
	spec, err := specfile.Load("spec.yaml", []byte("page: {emit: always}\nrecords: [{kind: product, key: '{sku}', fields: {sku: .s}}]\n"))
	check(t, err)
	f := sqlsink.Format{Columns: func(_, kind string, _ uint64) ([]format.Column, error) { return format.ColumnsOf(spec, kind), nil }}
	s := Enter(t, p.open(t, sqlsink.FromRecords), Created)
	next := uint64(1)
	put := func(all ...*format.Record) {
		t.Helper()
		check(t, s.CommitAs(f, Created, next, all...))
		next += uint64(len(all))
	}
	hour := func(n int) time.Time { return Created.Add(time.Duration(n) * time.Hour) }
	id := func(url string, round int) messages.Visit {
		return messages.Visit{URL: messages.HashURL(url), Round: uint64(round)}
	}
	product := func(url string, at int) *format.Record {
		line := fmt.Sprintf(`{"kind":"product","url":%q,"fetched_at":%q,"crawl":"a","key":"k-%[1]s","sku":"k"}`, url, hour(at).Format(time.RFC3339Nano))
		return raw(messages.VisitID("a", id(url, at))+".product.0", "product", line)
	}
	absent := func(kind, url string, at int, same bool) *format.Record {
		r := messages.VisitRecord{Kind: kind, URL: url, FetchedAt: hour(at), Crawl: "a", Visit: id(url, at), Status: 410, Class: messages.Gone, Same: same}
		m := r.Msg(0)
		return &format.Record{ID: m.Header.Get("Nats-Msg-Id"), Kind: kind, Stored: Created, Header: m.Header, Data: m.Data}
	}
	const stays, goes, back = "https://a.example/1", "https://a.example/2", "https://a.example/3"
	put(product(stays, 1), product(goes, 1), product(back, 1), Page(stays, 1, hour(1), "T"), Page(goes, 1, hour(1), "T"))
	put(product(stays, 2), Page(stays, 2, hour(2), "T"), absent(messages.KindGone, goes, 2, false), absent(messages.KindVisit, back, 2, false))
	p.wants(t, `SELECT url FROM records_product`, stays)
	p.wants(t, `SELECT url FROM records_page`, stays)
	p.wants(t, `SELECT count(*) FROM records WHERE kind = 'product' AND gone_at > fetched_at`, "2")
	p.wants(t, `SELECT count(*) FROM changes_product WHERE change = 'gone' AND sku = 'k'`, "2")
	p.wants(t, `SELECT count(*) FROM changes_page WHERE change = 'gone' AND url = '`+goes+`'`, "1")
	p.wants(t, `SELECT url || ' ' || class FROM records_gone WHERE url = '`+goes+`'`, goes+" gone")
	p.wants(t, `SELECT status FROM events WHERE kind = 'gone' AND url = '`+goes+`'`, "410")

	replayed := product(goes, 1)
	replayed.ID += "@g1"
	put(product(back, 3), replayed)
	p.wants(t, `SELECT count(*) FROM records_product`, "2")
	p.wants(t, `SELECT count(*) FROM records_product WHERE url = '`+goes+`'`, "0")
	p.wants(t, `SELECT change FROM changes_product WHERE url = '`+back+`' ORDER BY fetched_at DESC LIMIT 1`, "new")

	put(absent(messages.KindVisit, back, 4, true), absent(messages.KindVisit, goes, 4, true))
	p.wants(t, `SELECT count(*) FROM records_product WHERE url = '`+back+`' AND checked_at > changed_at`, "1")
	p.wants(t, `SELECT count(*) FROM changes_product WHERE change = 'gone'`, "2")
}

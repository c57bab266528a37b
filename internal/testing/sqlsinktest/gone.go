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

// A view tells when the page of a record was found gone, until one is made of it again. It
// tells so in whatever order the records come, and of a spec that wants it alone.
func testGone(t *testing.T, p Fixture) {
	f := sqlsink.Format{}
	s := Enter(t, p.open(t, sqlsink.FromRecords), Created)
	next := uint64(1)
	put := func(all ...*format.Record) {
		t.Helper()
		check(t, s.CommitAs(f, Created, next, all...))
		next += uint64(len(all))
	}
	by := func(text string) {
		t.Helper()
		spec, err := specfile.Load("spec.yaml", []byte(text))
		check(t, err)
		f = sqlsink.Format{Columns: func(_, kind string, _ uint64) ([]format.Column, error) { return sqlsink.ColumnsOf(spec, kind), nil }}
	}
	const rule = "page: {emit: always}\nrecords: [{kind: product, key: '{sku}', fields: {sku: .s, %s: .x}}]\n"
	hour := func(n int) time.Time { return Created.Add(time.Duration(n) * time.Hour) }
	id := func(url string, round int) messages.Visit {
		return messages.Visit{URL: messages.HashURL(url), Round: uint64(round)}
	}
	product := func(url string, at int) *format.Record {
		line := fmt.Sprintf(`{"kind":"product","url":%q,"fetched_at":%q,"crawl":"a","key":"k-%[1]s","sku":"k"}`, url, hour(at).Format(time.RFC3339Nano))
		return raw(messages.VisitID("a", id(url, at))+".product.0", "product", line)
	}
	gone := func(url string, at int) *format.Record {
		r := messages.GoneRecord{URL: url, FetchedAt: hour(at), Crawl: "a", Visit: id(url, at), Status: 410, Class: messages.Gone}
		m := r.Msg(0)
		return &format.Record{ID: m.Header.Get("Nats-Msg-Id"), Kind: messages.KindGone, Stored: Created, Header: m.Header, Data: m.Data}
	}
	const stays, goes, back = "https://a.example/1", "https://a.example/2", "https://a.example/3"
	by(fmt.Sprintf(rule, "x"))
	put(product(stays, 1), product(goes, 1), product(back, 1), Page(stays, 1, hour(1), "T"), Page(goes, 1, hour(1), "T"))
	p.wants(t, `SELECT count(*) FROM fields WHERE name = 'gone_at'`, "0")

	by("gone: record\n" + fmt.Sprintf(rule, "x"))
	put(product(stays, 2), Page(stays, 2, hour(2), "T"), gone(goes, 2), gone(back, 2))
	p.wants(t, `SELECT count(*) FROM fields WHERE name = 'gone_at' AND type = 'gone'`, "2")
	p.wants(t, `SELECT count(*) FROM records_product WHERE gone_at IS NOT NULL`, "2")
	p.wants(t, `SELECT url FROM records_product WHERE gone_at IS NULL`, stays)
	p.wants(t, `SELECT url FROM records_page WHERE gone_at IS NULL`, stays)
	p.wants(t, `SELECT count(*) FROM records_product WHERE url = '`+goes+`' AND gone_at > fetched_at`, "1")
	p.wants(t, `SELECT url || ' ' || status || ' ' || class FROM records_gone WHERE url = '`+goes+`'`, goes+" 410 gone")
	p.wants(t, `SELECT status FROM events WHERE kind = 'gone' AND url = '`+goes+`'`, "410")

	replayed := product(goes, 1)
	replayed.ID += "@g1"
	put(product(back, 3), replayed)
	p.wants(t, `SELECT count(*) FROM records_product WHERE gone_at IS NULL`, "2")
	p.wants(t, `SELECT count(*) FROM records_product WHERE url = '`+goes+`' AND gone_at IS NOT NULL`, "1")

	by("gone: record\n" + fmt.Sprintf(rule, "colour"))
	put(product(back, 4))
	p.wants(t, `SELECT url FROM records_product WHERE colour IS NULL AND gone_at IS NOT NULL`, goes)
}

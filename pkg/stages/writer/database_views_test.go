package writer

import (
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"seine/internal/run/specfile"
	"seine/internal/testing/await"
	"seine/internal/testing/pgserver"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// The view of a kind has the columns of the spec. It gets those of a later spec once records are
// written under it.
func TestViewFollowsTheSpec(t *testing.T) {
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) { viewFollowsTheSpec(t, onSQLite(t)) })
	t.Run("PostgreSQL", func(t *testing.T) { viewFollowsTheSpec(t, onPostgres(t, pgserver.Start(t))) })
}

func viewFollowsTheSpec(t *testing.T, cfg Config) {
	bus := startBus(t, false)
	specs, err := stages.OpenSpecs(t.Context(), bus)
	check(t, err)
	store := func(fields string) {
		t.Helper()
		spec, err := specfile.Load("spec.yaml", []byte("records: [{kind: product, fields: {"+fields+"}}]"))
		check(t, err)
		_, err = specs.Put(t.Context(), "a", spec)
		check(t, err)
	}
	w := start(t, bus, cfg)
	sent := 0
	send := func() {
		t.Helper()
		m := record("a", sent*partitions, 0)
		m.Header.Set(nats.MsgIdHdr, fmt.Sprint("own.", sent))
		m.Data = []byte(`{"kind":"product","url":"https://a.test/","price":1.5,"stock":2}`)
		check(t, stages.NewPublisher(bus, "test").Publish(t.Context(), m))
		sent++
		await.Eventually(t, "commit", func() bool { return w.Totals().Records == int64(sent) })
	}
	store("price: {css: .p, as: number}")
	send()
	if n := ask(t, cfg, `SELECT count(*) FROM records_product WHERE price > 1.4 AND host = 'a.test'`); n != 1 {
		t.Errorf("%d products by the first spec, want 1", n)
	}
	store("price: {css: .p, as: number}, stock: {css: .s, as: integer}")
	await.Eventually(t, "the new column", func() bool {
		send()
		return ask(t, cfg, `SELECT count(*) FROM fields WHERE kind = 'product' AND name = 'stock' AND type = 'integer'`) == 1
	})
	w.end()
	if n := ask(t, cfg, `SELECT sum(stock) FROM records_product`); n != 2*sent {
		t.Errorf("%d in stock, want %d", n, 2*sent)
	}
}

// A batch that begins under one spec and contains a record of the next is committed with the
// columns of both.
func TestViewHasTheNewestSpecOfABatch(t *testing.T) {
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) { viewHasTheNewestSpecOfABatch(t, onSQLite(t)) })
	t.Run("PostgreSQL", func(t *testing.T) { viewHasTheNewestSpecOfABatch(t, onPostgres(t, pgserver.Start(t))) })
}

func viewHasTheNewestSpecOfABatch(t *testing.T, cfg Config) {
	cfg.ChunkRecords, cfg.ChunkAge = 2, crawlspec.Duration(4*time.Minute)
	bus := startBus(t, false)
	specs, err := stages.OpenSpecs(t.Context(), bus)
	check(t, err)
	w := start(t, bus, cfg)
	send := func(n int, fields, line string) {
		t.Helper()
		spec, err := specfile.Load("spec.yaml", []byte("records: [{kind: product, fields: {"+fields+"}}]"))
		check(t, err)
		rev, err := specs.Put(t.Context(), "a", spec)
		check(t, err)
		m := messages.RecordMsg("a", 0, fmt.Sprint("own.", n), []byte(`{"kind":"product","url":"https://a.test/"`+line+`}`))
		messages.SetSpecRevision(m, rev)
		check(t, stages.NewPublisher(bus, "test").Publish(t.Context(), m))
	}
	const first = "price: {css: .p, as: number}"
	send(1, first, `,"price":1.5`)
	await.Eventually(t, "the first record to be taken", func() bool { return w.open.Load() == 1 })
	send(2, first+", stock: {css: .s, as: integer}", `,"price":2,"stock":7`)
	await.Eventually(t, "commit", func() bool { return w.Totals().Records == 2 })
	if n := ask(t, cfg, `SELECT sum(stock) FROM records_product WHERE price = 2`); n != 7 {
		t.Errorf("%d in stock, want 7", n)
	}
	// A replay whose spec has another type for a field appears beside the existing rows.
	send(3, "price: {css: .p}", `,"price":"free","generation":"g1"`)
	send(4, "price: {css: .p}", `,"price":"3 EUR","generation":"g1"`)
	await.Eventually(t, "commit", func() bool { return w.Totals().Records == 4 })
	if n := ask(t, cfg, `SELECT count(price) FROM records_product`); n != 4 {
		t.Errorf("%d prices, want 4", n)
	}
	w.end()
}

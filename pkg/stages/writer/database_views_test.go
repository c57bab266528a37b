package writer

import (
	"fmt"
	"testing"

	"github.com/nats-io/nats.go"

	"seine/internal/run/specfile"
	"seine/internal/testing/await"
	"seine/internal/testing/pgserver"
	"seine/pkg/stages"
)

// A view of a kind has the columns that the spec says, and those of a later spec as soon as
// records are written by it.
func TestViewFollowsTheSpec(t *testing.T) {
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

package postgres

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"seine/internal/testing/pgserver"
	"seine/internal/testing/sqlsinktest"
)

// BenchmarkCopy writes rows of 200 bytes and of 8 KB to a table: by COPY, as a batch does, and by
// pipelined INSERTs.
func BenchmarkCopy(b *testing.B) {
	server := pgserver.Start(b)
	ctx := context.Background()
	c, err := pgx.Connect(ctx, server.DSN(server.Database()))
	check(b, err)
	defer func() { check(b, c.Close(ctx)) }()
	const rows = 1000
	var text string
	for name, send := range map[string]func(pgx.Tx) error{
		"COPY": func(tx pgx.Tx) error {
			_, err := tx.CopyFrom(ctx, pgx.Identifier{"t"}, []string{"id", "url", "record"}, pgx.CopyFromSlice(rows, func(i int) ([]any, error) {
				return []any{int64(i), "https://a.example/", text}, nil
			}))
			return err
		},
		"INSERT": func(tx pgx.Tx) error {
			var all pgx.Batch
			for i := range rows {
				all.Queue(`INSERT INTO t (id, url, record) VALUES ($1, $2, $3)`, int64(i), "https://a.example/", text)
			}
			return tx.SendBatch(ctx, &all).Close()
		},
	} {
		for _, size := range []int{200, 8000} {
			b.Run(fmt.Sprint(name, "/", size), func(b *testing.B) {
				text = fmt.Sprintf(`{"text": "%*d"}`, size, 1)
				for b.Loop() {
					_, err := c.Exec(ctx, `DROP TABLE IF EXISTS t; CREATE TABLE t (id bigint PRIMARY KEY, url text, record jsonb)`)
					check(b, err)
					check(b, pgx.BeginFunc(ctx, c, send))
				}
				b.ReportMetric(float64(rows*b.N)/b.Elapsed().Seconds(), "rows/s")
			})
		}
	}
}

// BenchmarkScale takes minutes: -bench Scale -benchtime 1x -timeout 1h.
func BenchmarkScale(b *testing.B) {
	server := pgserver.Start(b)
	sqlsinktest.Scale(b, place(b, server.DSN(server.Database())))
}

package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"seine/internal/output/sqlsink"
)

// SetRuns stores the figures of runs in the database that out names, in one transaction.
// It makes the tables if there are none.
func SetRuns(ctx context.Context, out string, runs []sqlsink.Run) error {
	d, err := connect(out)
	if err != nil {
		return err
	}
	defer d.pool.Close()
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	if err = d.prepare(ctx); err == nil {
		err = pgx.BeginFunc(ctx, d.pool, func(tx pgx.Tx) error {
			var b pgx.Batch
			for i := range runs {
				b.Queue(sqlsink.SetRun, runs[i].Args(func(t time.Time) any { return moment(t) })...)
			}
			return tx.SendBatch(ctx, &b).Close()
		})
	}
	if err != nil {
		return fmt.Errorf("%s: store the figures of runs: %w", d.target.shown, d.explain(err))
	}
	return nil
}

package sqlite

import (
	"context"
	"errors"
	"fmt"
	"time"

	"seine/internal/output/sqlsink"
)

// SetRuns stores the figures of runs in the file that out names, in one transaction. It
// makes the tables if there are none.
func SetRuns(ctx context.Context, out string, runs []sqlsink.Run) error {
	d, err := create(File(out))
	if err != nil {
		return fmt.Errorf("%s: %w", out, explain(err))
	}
	err = d.prepare(ctx)
	if err == nil {
		err = d.setRuns(ctx, runs)
	}
	if err = errors.Join(err, d.Close()); err != nil {
		return fmt.Errorf("%s: store the figures of runs: %w", out, explain(err))
	}
	return nil
}

func (d *database) setRuns(ctx context.Context, runs []sqlsink.Run) error {
	tx, err := d.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	for i := range runs {
		args := runs[i].Args(func(t time.Time) any { return stamp(t) })
		if _, err := tx.ExecContext(ctx, sqlsink.SetRun, args...); err != nil {
			return errors.Join(err, tx.Rollback())
		}
	}
	return tx.Commit()
}

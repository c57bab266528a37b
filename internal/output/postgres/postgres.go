// Package postgres is PostgreSQL as a place for output. Package sqlsink has the
// argument why nothing is lost and nothing comes twice.
//
// A batch goes in by COPY: its events into their table, where an identity that is
// there already ends the transaction, the rest into tables of the session, from
// which it is inserted or replaces what is older. A transaction that has ended is on
// the server's disk before it is reported: synchronous_commit is turned on where it was
// off.
package postgres

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"seine/internal/output"
	"seine/internal/output/sqlsink"
)

//go:embed migrations
var files embed.FS

var migrations = sqlsink.Migrations(files)

const (
	// schemaName is where the tables are, unless the DSN has a search_path.
	schemaName = "seine"
	// connections is how many partitions are committed at a time, and connectTime how
	// long a connection may take, unless the DSN says it.
	connections = 4
	connectTime = 10 * time.Second
	// startTime bounds what is done before the first batch, migrations included.
	startTime = 10 * time.Minute
)

// database is a database as one writer has it.
type database struct {
	sqlsink.Tables
	pool   *pgxpool.Pool // of the connections of Tables
	target target
}

// Open makes sure that the writer called name, of the source from, can write to the
// database that out names.
func Open(out, name, from string, log *slog.Logger, h output.Hook) (*sqlsink.Sink, error) {
	ctx, cancel := context.WithTimeout(context.Background(), startTime)
	defer cancel()
	d, err := open(out, func(d *database) error {
		if err := d.prepare(ctx); err != nil {
			return err
		}
		return d.Register(ctx, name, from)
	})
	if err != nil {
		return nil, fmt.Errorf("--out %w", err)
	}
	return sqlsink.NewSink(d.target.shown, from, d, log, h), nil
}

// Read returns the log of the writer called name in a database, or of that of records
// if name is empty.
func Read(out, name string) (output.Log, error) {
	ctx, cancel := context.WithTimeout(context.Background(), startTime)
	defer cancel()
	d, err := open(out, func(d *database) error { return d.Read(ctx, name) })
	if err != nil {
		return nil, err
	}
	return sqlsink.NewSink(d.target.shown, "", d, nil, nil), nil
}

// Writers returns the names of the writers of a database.
func Writers(out string) (names []string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), startTime)
	defer cancel()
	d, err := open(out, func(d *database) error {
		if err := d.Read(ctx, ""); err != nil {
			return err
		}
		names, err = d.Writers(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	return names, d.Close()
}

// SetRuns stores the figures of runs in the database that out names, in one transaction.
// It creates missing tables.
func SetRuns(ctx context.Context, out string, runs []sqlsink.Run) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	d, err := open(out, func(d *database) error {
		if err := d.prepare(ctx); err != nil {
			return err
		}
		return d.SetRuns(ctx, runs)
	})
	if err != nil {
		return err
	}
	return d.Close()
}

// open connects to a database, and calls begin with it. Its errors begin with the place.
func open(out string, begin func(*database) error) (*database, error) {
	t, err := parse(out)
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(context.Background(), t.config)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.shown, t.scrub(err))
	}
	d := &database{
		Tables: sqlsink.Tables{Dialect: dialect{t}, DB: stdlib.OpenDBFromPool(pool), Migrations: migrations},
		pool:   pool, target: *t,
	}
	if err := begin(d); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", t.shown, d.Explain(err)), d.Close())
	}
	return d, nil
}

// prepare makes the tables, or brings them to this build's version. Where they are of
// that version it changes nothing, so a role needs no right to.
func (d *database) prepare(ctx context.Context) error {
	var encoding string
	if err := d.DB.QueryRowContext(ctx, `SELECT current_setting('server_encoding')`).Scan(&encoding); err != nil {
		return err
	}
	if encoding != "UTF8" {
		return fmt.Errorf("its encoding is %s, which has not all characters: name a database whose encoding is UTF8", encoding)
	}
	if err := d.Migrate(ctx); err != nil {
		return err
	}
	return d.mayWrite(ctx)
}

// dialect is what PostgreSQL does in its own way.
type dialect struct{ *target }

// Version implements sqlsink.Dialect.
func (dialect) Version(ctx context.Context, q sqlsink.Querier) (v int, err error) {
	var has bool
	if err := q.QueryRowContext(ctx, `SELECT to_regclass('seine_schema') IS NOT NULL`).Scan(&has); err != nil || !has {
		return 0, err
	}
	err = q.QueryRowContext(ctx, `SELECT version FROM seine_schema`).Scan(&v)
	return v, err
}

// SetVersion implements sqlsink.Dialect.
func (dialect) SetVersion(ctx context.Context, tx *sql.Tx, v int) error {
	_, err := tx.ExecContext(ctx, `WITH old AS (DELETE FROM seine_schema) INSERT INTO seine_schema (version) VALUES ($1)`, v)
	return err
}

// lockKey is the advisory lock of those who change the tables: "SEIN".
const lockKey = 0x5345494e

// Lock implements sqlsink.Dialect. It makes the schema if there is none.
func (d dialect) Lock(ctx context.Context, tx *sql.Tx) error {
	var has bool
	_, err := tx.ExecContext(ctx, `SELECT pg_advisory_xact_lock($1)`, lockKey)
	if err == nil {
		// Of a view that a transaction reads: others must not wait behind this one until that ends.
		_, err = tx.ExecContext(ctx, `SET LOCAL lock_timeout = '1s'`)
	}
	if err == nil {
		err = tx.QueryRowContext(ctx, `SELECT current_schema() IS NOT NULL`).Scan(&has)
	}
	if err == nil && !has {
		_, err = tx.ExecContext(ctx, `CREATE SCHEMA IF NOT EXISTS `+pgx.Identifier{d.schema}.Sanitize())
	}
	return err
}

// Mark implements sqlsink.Dialect.
func (dialect) Mark() string { return `octet_length(entry) || '.' || extract(epoch FROM committed_at)` }

// Moment implements sqlsink.Dialect.
func (dialect) Moment(t time.Time) any { return pgtype.Timestamptz{Time: t, Valid: true} }

// JSON implements sqlsink.Dialect.
func (dialect) JSON(data []byte) any { return storable(data) }

// Visits implements sqlsink.Dialect.
func (dialect) Visits() string {
	return `SELECT v ->> 0 AS crawl, v ->> 1 AS url, v ->> 2 AS visit, (v ->> 3)::timestamptz AS fetched_at, (v ->> 4)::bigint AS round,
		(v ->> 5)::bigint AS run FROM jsonb_array_elements($1::jsonb) v`
}

// NewID implements sqlsink.Dialect.
func (dialect) NewID() string { return `uuid_send(gen_random_uuid())` }

// mayWrite tells now what each commit would tell: that a right is missing.
func (d *database) mayWrite(ctx context.Context) error {
	var missing []string
	err := d.pool.QueryRow(ctx, `SELECT coalesce(array_agg(t || ': ' || p), '{}')
		FROM unnest(ARRAY['writers', 'feeds', 'commits', 'events', 'pages', 'records', 'sources']) t,
		unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) p WHERE NOT has_table_privilege(t, p) AND (p <> 'DELETE' OR t = 'records')`).Scan(&missing)
	if err == nil && len(missing) > 0 {
		err = fmt.Errorf("this role lacks rights (%s): GRANT them", strings.Join(missing, ", "))
	}
	if err != nil {
		return err
	}
	tx, err := d.pool.Begin(ctx)
	if err != nil {
		return err
	}
	return errors.Join(begin(ctx, tx), tx.Rollback(ctx))
}

// constraint returns the unique constraint that err is a violation of, "" if it is
// none.
func constraint(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == "23505" {
		return e.ConstraintName
	}
	return ""
}

// Close implements sqlsink.Database.
func (d *database) Close() error {
	err := d.DB.Close()
	d.pool.Close()
	return err
}

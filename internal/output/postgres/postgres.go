// Package postgres writes output to PostgreSQL. Package sqlsink explains why no record is lost or
// stored twice.
//
// A batch is sent by COPY. Its events go directly to their table, where an existing identity aborts
// the transaction. The rest goes to temporary tables, from which it is inserted or replaces older
// rows. A transaction is reported as committed only when it is on the server's disk:
// synchronous_commit is turned on if it was off.
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
	// schemaName is the schema of the tables, unless the DSN has a search_path.
	schemaName = "seine"
	// connections is the number of partitions committed at a time, and connectTime the timeout of a
	// connection. The DSN overrides both.
	connections = 4
	connectTime = 10 * time.Second
	// startTime bounds the work before the first batch, including migrations.
	startTime = 10 * time.Minute
)

// database is the database of one writer.
type database struct {
	sqlsink.Tables
	pool   *pgxpool.Pool // for the connections of Tables
	target target
}

// Open makes sure that the named writer, of the source from, can write to the database out.
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

// Read returns the log of the named writer in a database. If name is empty, it returns the log of
// the writer of records.
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

// SetRuns stores the figures of runs in the database out, in one transaction. It creates missing
// tables.
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

// open connects to a database and calls begin with it. Its errors begin with the redacted DSN.
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

// prepare creates the tables, or migrates them to this build's version. If they have that version
// it changes nothing, so the role needs no rights to do so.
func (d *database) prepare(ctx context.Context) error {
	var encoding string
	if err := d.DB.QueryRowContext(ctx, `SELECT current_setting('server_encoding')`).Scan(&encoding); err != nil {
		return err
	}
	if encoding != "UTF8" {
		return fmt.Errorf("its encoding is %s, which lacks characters: use a database whose encoding is UTF8", encoding)
	}
	if err := d.Migrate(ctx); err != nil {
		return err
	}
	return d.mayWrite(ctx)
}

// dialect implements the parts of sqlsink that are specific to PostgreSQL.
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

// lockKey is the advisory lock for changing the tables: "SEIN".
const lockKey = 0x5345494e

// Lock implements sqlsink.Dialect. It creates the schema if it is missing.
func (d dialect) Lock(ctx context.Context, tx *sql.Tx) error {
	var has bool
	_, err := tx.ExecContext(ctx, `SELECT pg_advisory_xact_lock($1)`, lockKey)
	if err == nil {
		// For a view that another transaction reads: if this one waited for that long, others would
		// queue behind it.
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

// mayWrite returns the error for missing rights now, instead of at each commit.
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

// constraint returns the unique constraint that err violates, or "".
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

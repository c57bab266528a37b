// Package postgres is PostgreSQL as a place for output. Package sqlsink has the
// argument why nothing is lost and nothing comes twice.
//
// A batch goes in by COPY: its events into their table, where an identity that is
// there already ends the transaction, the rest into tables of the session, from
// which it is inserted or replaces what is older. A transaction that has ended is on
// the server's disk before it is told: synchronous_commit is turned on where it was
// off.
package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

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
	pool   *pgxpool.Pool
	writer string
	target target
}

// Open makes sure that the writer called name, of the source from, can write to the
// database that out names.
func Open(out, name, from string, log *slog.Logger, h output.Hook) (*sqlsink.Sink, error) {
	d, err := connect(out)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTime)
	defer cancel()
	d.writer = name
	err = d.prepare(ctx)
	if err == nil {
		err = d.register(ctx, from)
	}
	if err != nil {
		d.pool.Close()
		return nil, fmt.Errorf("--out %s: %w", d.target.shown, d.explain(err))
	}
	return sqlsink.NewSink(d.target.shown, from, d, log, h), nil
}

// connect makes a pool, and no connection yet.
func connect(out string) (*database, error) {
	t, err := parse(out)
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(context.Background(), t.config)
	if err != nil {
		return nil, fmt.Errorf("--out %s: %w", t.shown, t.scrub(err))
	}
	return &database{pool: pool, target: *t}, nil
}

// Read returns the log of the writer called name in a database, or of that of records
// if name is empty.
func Read(out, name string) (output.Log, error) {
	ctx, cancel := context.WithTimeout(context.Background(), startTime)
	defer cancel()
	d, err := read(ctx, out, name)
	if err != nil {
		return nil, err
	}
	return sqlsink.NewSink(d.target.shown, "", d, nil, nil), nil
}

// Writers returns the names of the writers of a database.
func Writers(out string) (names []string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), startTime)
	defer cancel()
	d, err := read(ctx, out, "")
	if err != nil {
		return nil, err
	}
	defer d.pool.Close()
	if err := d.pool.QueryRow(ctx, `SELECT array_agg(name) FROM writers`).Scan(&names); err != nil {
		return nil, fmt.Errorf("%s: %w", d.target.shown, d.explain(err))
	}
	return names, nil
}

// read opens a database to read it.
func read(ctx context.Context, out, name string) (*database, error) {
	d, err := connect(out)
	if err != nil {
		return nil, err
	}
	if err := d.isOurs(ctx, name); err != nil {
		d.pool.Close()
		return nil, fmt.Errorf("%s: %w", d.target.shown, d.explain(err))
	}
	return d, nil
}

// isOurs checks that there are tables to read, and finds out who wrote them.
func (d *database) isOurs(ctx context.Context, name string) error {
	have, err := version(ctx, d.pool)
	if err == nil {
		err = sqlsink.CheckReadable(have, migrations)
	}
	if err != nil {
		return err
	}
	if d.writer = name; name == "" {
		err = d.pool.QueryRow(ctx, `SELECT name FROM writers ORDER BY source LIMIT 1`).Scan(&d.writer)
	}
	return err
}

type querier interface {
	QueryRow(ctx context.Context, query string, args ...any) pgx.Row
}

// version returns the version of the tables, 0 if there are none.
func version(ctx context.Context, q querier) (v int, err error) {
	var has bool
	if err := q.QueryRow(ctx, `SELECT to_regclass('seine_schema') IS NOT NULL`).Scan(&has); err != nil || !has {
		return 0, err
	}
	err = q.QueryRow(ctx, `SELECT version FROM seine_schema`).Scan(&v)
	return v, err
}

// prepare makes the tables, or brings them to this build's version. Where they are of
// that version it changes nothing, so a role needs no right to.
func (d *database) prepare(ctx context.Context) error {
	var encoding string
	if err := d.pool.QueryRow(ctx, `SELECT current_setting('server_encoding')`).Scan(&encoding); err != nil {
		return err
	}
	if encoding != "UTF8" {
		return fmt.Errorf("its encoding is %s, which has not all characters: name a database whose encoding is UTF8", encoding)
	}
	have, err := version(ctx, d.pool)
	if err != nil {
		return err
	}
	if err := sqlsink.CheckVersion(have, migrations); err != nil {
		return err
	}
	if have < len(migrations) {
		if err := d.migrate(ctx, migrations); err != nil {
			return err
		}
	}
	return d.mayWrite(ctx)
}

// lockKey is the advisory lock of those who change the tables: "SEIN".
const lockKey = 0x5345494e

func (d *database) migrate(ctx context.Context, all []sqlsink.Migration) error {
	return pgx.BeginFunc(ctx, d.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, lockKey); err != nil {
			return err
		}
		var has bool
		if err := tx.QueryRow(ctx, `SELECT current_schema() IS NOT NULL`).Scan(&has); err != nil {
			return err
		}
		if !has {
			if _, err := tx.Exec(ctx, `CREATE SCHEMA IF NOT EXISTS `+pgx.Identifier{d.target.schema}.Sanitize()); err != nil {
				return err
			}
		}
		return sqlsink.Migrate(ctx, schema{tx}, all)
	})
}

// schema is a transaction that changes the tables.
type schema struct{ tx pgx.Tx }

// Version implements sqlsink.Schema.
func (s schema) Version(ctx context.Context) (int, error) { return version(ctx, s.tx) }

// SetVersion implements sqlsink.Schema.
func (s schema) SetVersion(ctx context.Context, v int) error {
	_, err := s.tx.Exec(ctx, `WITH old AS (DELETE FROM seine_schema) INSERT INTO seine_schema (version) VALUES ($1)`, v)
	return err
}

// Exec implements sqlsink.Schema.
func (s schema) Exec(ctx context.Context, text string) error {
	_, err := s.tx.Exec(ctx, text) // without arguments it may be several statements
	return err
}

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

// register refuses a second writer of the same stream.
func (d *database) register(ctx context.Context, from string) error {
	var have string
	ask := func() error {
		return d.pool.QueryRow(ctx, `SELECT name FROM writers WHERE source = $1`, from).Scan(&have)
	}
	err := ask()
	if errors.Is(err, pgx.ErrNoRows) { // unless one that starts at the same time makes it
		_, err = d.pool.Exec(ctx, `INSERT INTO writers (name, source) VALUES ($1, $2) ON CONFLICT DO NOTHING`, d.writer, from)
		if err == nil {
			err = ask()
		}
	}
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return err
	}
	return sqlsink.CheckWriter(have, d.writer, from)
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
	d.pool.Close()
	return nil
}

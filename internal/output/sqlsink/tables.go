package sqlsink

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"seine/internal/output/format"
)

// Dialect is the SQL dialect of a database.
type Dialect interface {
	// Explain adds advice to an error, and output.ErrAway where it applies.
	Explain(err error) error
	// Version returns the version of the tables, or 0 if the database has no tables of Seine.
	Version(ctx context.Context, q Querier) (int, error)
	SetVersion(ctx context.Context, tx *sql.Tx, v int) error
	// Lock keeps other processes from changing tables, views and names until tx ends.
	Lock(ctx context.Context, tx *sql.Tx) error
	// Mark is an expression whose value changes when an entry is edited. It does not read the
	// entry.
	Mark() string
	// Moment converts a time, and JSON a record, to a value of a column.
	Moment(t time.Time) any
	JSON(data []byte) any
	// Visits is a query for the visits in $1, a JSON list of lists of crawl, URL, visit, time,
	// round and run.
	Visits() string
	// NewID is an expression for a new unique ID.
	NewID() string
	Views
}

// Querier is a database or a transaction.
type Querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// Tables are the tables of one writer in a database. They are the part of a Database that all
// databases share.
type Tables struct {
	Dialect
	DB         *sql.DB
	Writer     string
	Migrations []Migration
}

// SharedTables implements Database.
func (t *Tables) SharedTables() *Tables { return t }

// Register registers the writer. It returns an error if the stream has another writer.
func (t *Tables) Register(ctx context.Context, writer, from string) error {
	t.Writer = writer
	var have string
	ask := func() error {
		return t.DB.QueryRowContext(ctx, `SELECT name FROM writers WHERE source = $1`, from).Scan(&have)
	}
	err := ask()
	if errors.Is(err, sql.ErrNoRows) { // unless another process inserts it at the same time
		_, err = t.DB.ExecContext(ctx, `INSERT INTO writers (name, source) VALUES ($1, $2) ON CONFLICT DO NOTHING`, writer, from)
		if err == nil {
			err = ask()
		}
	}
	switch {
	case err != nil && !errors.Is(err, sql.ErrNoRows):
		return err
	case have == "":
		return fmt.Errorf("has another stream of the writer %q: give this writer another name", writer)
	case have != writer: // two writers of one stream would write all records twice
		return fmt.Errorf("belongs to the writer %q, this one is %q: use another file or schema (?search_path=NAME) for each writer of %s",
			have, writer, from)
	}
	return nil
}

// Read checks that the database has tables, and finds the writer if name is empty.
func (t *Tables) Read(ctx context.Context, name string) error {
	missing, err := t.missing(ctx, t.DB)
	if err == nil && len(missing) == len(t.Migrations) {
		err = ErrNoTables
	}
	if err != nil {
		return err
	}
	if t.Writer = name; name == "" {
		err = t.DB.QueryRowContext(ctx, `SELECT name FROM writers ORDER BY source LIMIT 1`).Scan(&t.Writer)
	}
	return err
}

// Writers returns the names of the writers.
func (t *Tables) Writers(ctx context.Context) (names []string, err error) {
	err = t.each(ctx, func(rows *sql.Rows) error {
		var name string
		err := rows.Scan(&name)
		names = append(names, name)
		return err
	}, `SELECT name FROM writers`)
	return names, err
}

// each calls do for each row of a query.
func (t *Tables) each(ctx context.Context, do func(*sql.Rows) error, query string, args ...any) error {
	all, err := t.DB.QueryContext(ctx, query, args...)
	if err != nil {
		return t.Explain(err)
	}
	defer all.Close()
	for all.Next() {
		if err := do(all); err != nil {
			return err
		}
	}
	return t.Explain(all.Err())
}

// change calls do in a transaction that holds the lock for changing tables, views and names.
func (t *Tables) change(ctx context.Context, do func(*sql.Tx) error) error {
	tx, err := t.DB.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err = t.Lock(ctx, tx); err == nil {
		err = do(tx)
	}
	if err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// enter returns the number of partition p of the stream incarnation that began at created. It
// assigns one if needed.
func (t *Tables) enter(ctx context.Context, p int, created time.Time) (feed int64, err error) {
	feed, err = t.Feed(ctx, p, created)
	if errors.Is(err, sql.ErrNoRows) {
		_, err = t.DB.ExecContext(ctx, `INSERT INTO feeds (writer, partition, created) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
			t.Writer, p, nameOf(created))
		if err == nil {
			feed, err = t.Feed(ctx, p, created)
		}
	}
	return feed, t.Explain(err)
}

// Feed returns the number of a partition of a stream incarnation.
func (t *Tables) Feed(ctx context.Context, p int, created time.Time) (feed int64, err error) {
	err = t.DB.QueryRowContext(ctx, `SELECT id FROM feeds WHERE writer = $1 AND partition = $2 AND created = $3`,
		t.Writer, p, nameOf(created)).Scan(&feed)
	return feed, err
}

// nameOf returns a time as text: a timestamp of PostgreSQL would lose its nanoseconds.
func nameOf(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// knows reports whether the database has a feed of the stream incarnation that began at created.
func (t *Tables) knows(ctx context.Context, created time.Time) (known bool, err error) {
	err = t.DB.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM feeds WHERE writer = $1 AND created = $2)`, t.Writer, nameOf(created)).Scan(&known)
	return known, t.Explain(err)
}

// hasCrawl reports whether the database has rows of a crawl.
func (t *Tables) hasCrawl(ctx context.Context, crawl string) (has bool, err error) {
	err = t.DB.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM sources WHERE crawl = $1)`, crawl).Scan(&has)
	return has, t.Explain(err)
}

// SetRuns stores the figures of runs in one transaction.
func (t *Tables) SetRuns(ctx context.Context, runs []Run) error {
	err := t.change(ctx, func(tx *sql.Tx) error {
		for i := range runs {
			if _, err := tx.ExecContext(ctx, setRun, runs[i].args(t.Moment)...); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("store the statistics of runs: %w", t.Explain(err))
	}
	return nil
}

// describe creates the views of a kind, or adds the columns of a spec revision to them, in a
// separate transaction that does not wait for long.
func (t *Tables) describe(ctx context.Context, kind string, columns []format.Column, rev int64) error {
	var have, all []field
	err := t.change(ctx, func(tx *sql.Tx) (err error) {
		have, all, err = describeViews(ctx, tx, t.Dialect, kind, columns, rev)
		return err
	})
	if err == nil && baseOf(kind) == &recordsBase {
		err = t.index(ctx, kind, have, all)
	}
	return t.Explain(err)
}

// index creates the indexes on numbers of a kind, in a separate transaction from the views:
// building an index needs the table, a view does not.
func (t *Tables) index(ctx context.Context, kind string, have, all []field) error {
	var changes []string
	now := indexes(t.Dialect, kind, all)
	for name := range indexes(t.Dialect, kind, have) {
		if now[name] == "" {
			changes = append(changes, `DROP INDEX IF EXISTS `+Quoted(name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(now)) {
		has, err := t.Has(ctx, t.DB, name)
		if err != nil {
			return err
		}
		if !has {
			changes = append(changes, `CREATE INDEX IF NOT EXISTS `+Quoted(name)+now[name])
		}
	}
	if len(changes) == 0 {
		return nil
	}
	err := t.change(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, strings.Join(changes, "; "))
		return err
	})
	if err != nil {
		return fmt.Errorf("index the numbers of %s (without that, a search for them reads all records): %w", kind, err)
	}
	return nil
}

// describeViews creates the views of a kind, or adds columns to them. They keep the columns of all
// earlier specs, so that they show older records too. It returns the fields before and after.
func describeViews(ctx context.Context, tx *sql.Tx, v Views, kind string, columns []format.Column, rev int64) (have, all []field, err error) {
	if have, err = fields(ctx, tx, kind); err != nil {
		return nil, nil, err
	}
	all = merged(have, fieldsOf(kind, columns), rev)
	if slices.Equal(all, have) {
		if has, err := v.Has(ctx, tx, ViewOf(kind)); has || err != nil {
			return have, all, err
		}
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM fields WHERE kind = $1`, kind); err != nil {
		return nil, nil, err
	}
	shown := make([]format.Column, len(all))
	for place, f := range all {
		shown[place] = f.Column
		if _, err := tx.ExecContext(ctx, `INSERT INTO fields (kind, place, name, type, rev) VALUES ($1, $2, $3, $4, $5)`,
			kind, place, f.Name, typeName(f.Column), f.rev); err != nil {
			return nil, nil, err
		}
	}
	for _, view := range viewsOf(v, kind, shown) {
		if err := v.Replace(ctx, tx, view[0], view[1]); err != nil {
			return nil, nil, err
		}
	}
	return have, all, nil
}

// fields returns the fields of a kind from the table fields, by their place.
func fields(ctx context.Context, tx *sql.Tx, kind string) (all []field, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT name, type, rev FROM fields WHERE kind = $1 ORDER BY place`, kind)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var name, typeName string
		var rev int64
		if err := rows.Scan(&name, &typeName, &rev); err != nil {
			return nil, err
		}
		all = append(all, newField(name, typeName, rev))
	}
	return all, rows.Err()
}

package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"seine/internal/output/format"
	"seine/internal/output/sqlsink"
)

// Describe implements sqlsink.Database.
func (d *database) Describe(ctx context.Context, kind string, columns []format.Column) error {
	err := pgx.BeginFunc(ctx, d.pool, func(tx pgx.Tx) error {
		// One process at a time: the next one finds what this one has made.
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, lockKey); err != nil {
			return err
		}
		return sqlsink.Describe(ctx, views{tx}, kind, columns)
	})
	return d.explain(err)
}

// views is a transaction that changes a view.
type views struct{ pgx.Tx }

// Fields implements sqlsink.Views.
func (v views) Fields(ctx context.Context, kind string) ([]format.Column, error) {
	all, err := v.Query(ctx, `SELECT name, type FROM fields WHERE kind = $1 ORDER BY place`, kind)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(all, func(row pgx.CollectableRow) (format.Column, error) {
		var name, typeName string
		err := row.Scan(&name, &typeName)
		return sqlsink.NewField(name, typeName), err
	})
}

// SetFields implements sqlsink.Views.
func (v views) SetFields(ctx context.Context, kind string, fields []format.Column) error {
	if _, err := v.Exec(ctx, `DELETE FROM fields WHERE kind = $1`, kind); err != nil {
		return err
	}
	_, err := v.CopyFrom(ctx, pgx.Identifier{"fields"}, []string{"kind", "place", "name", "type"},
		pgx.CopyFromSlice(len(fields), func(i int) ([]any, error) {
			return []any{kind, int32(i), fields[i].Name, sqlsink.TypeName(fields[i])}, nil
		}))
	return err
}

// Has implements sqlsink.Views.
func (v views) Has(ctx context.Context, view string) (has bool, err error) {
	err = v.QueryRow(ctx, `SELECT to_regclass($1) IS NOT NULL`, sqlsink.Quoted(view)).Scan(&has)
	return has, err
}

// Replace implements sqlsink.Views. Columns that are added at the end leave the view the one
// that it is, with the rights and the views that others have made on it; it is made again
// where a column is of another type.
func (v views) Replace(ctx context.Context, view, query string) error {
	name := sqlsink.Quoted(view)
	err := pgx.BeginFunc(ctx, v, func(tx pgx.Tx) error { // a savepoint
		_, err := tx.Exec(ctx, `CREATE OR REPLACE VIEW `+name+` AS `+query)
		return err
	})
	if !isCode(err, "42P16") { // invalid_table_definition
		return err
	}
	if _, err := v.Exec(ctx, `DROP VIEW `+name); err != nil {
		if isCode(err, "2BP01") { // dependent_objects_still_exist
			err = fmt.Errorf("a column gets another type, and other views are made of this one: drop those, and start the writer again: %w", err)
		}
		return err
	}
	_, err = v.Exec(ctx, `CREATE VIEW `+name+` AS `+query)
	return err
}

func isCode(err error, code string) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && e.Code == code
}

// Value implements sqlsink.Views. A cast is tried only of what it cannot fail for: an error
// would end the whole query.
func (v views) Value(column string, f format.Column) string {
	key := sqlsink.Literal(f.Name)
	value, text := column+` -> `+key, column+` ->> `+key
	number := `CASE jsonb_typeof(` + value + `) WHEN 'number' THEN (` + value + `)::numeric END`
	switch {
	case f.List || f.Type == format.JSON:
		return value
	case f.Type == format.Integer:
		return `CASE WHEN ` + number + ` % 1 = 0 AND ` + number + ` BETWEEN -9223372036854775808 AND 9223372036854775807
			THEN (` + value + `)::numeric::bigint END`
	case f.Type == format.Number:
		return number
	case f.Type == format.Bool:
		return `CASE jsonb_typeof(` + value + `) WHEN 'boolean' THEN (` + value + `)::boolean END`
	case f.Type == format.Time:
		return `seine_time(` + text + `)`
	}
	return text
}

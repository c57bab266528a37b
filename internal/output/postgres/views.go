package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"seine/internal/output/format"
	"seine/internal/output/sqlsink"
)

// Has implements sqlsink.Views.
func (dialect) Has(ctx context.Context, q sqlsink.Querier, name string) (has bool, err error) {
	err = q.QueryRowContext(ctx, `SELECT to_regclass($1) IS NOT NULL`, sqlsink.Quoted(name)).Scan(&has)
	return has, err
}

// Replace implements sqlsink.Views. Columns that are added at the end keep the view, with the
// rights and the views that users made on it. If a column changes its type, the view is dropped and
// created again.
func (dialect) Replace(ctx context.Context, tx *sql.Tx, view, query string) error {
	name := sqlsink.Quoted(view)
	_, err := tx.ExecContext(ctx, `SAVEPOINT replacing; CREATE OR REPLACE VIEW `+name+` AS `+query)
	if !isCode(err, "42P16") { // invalid_table_definition
		return err
	}
	if _, err := tx.ExecContext(ctx, `ROLLBACK TO SAVEPOINT replacing; DROP VIEW `+name); err != nil {
		if isCode(err, "2BP01") { // dependent_objects_still_exist
			err = fmt.Errorf("a column changes its type, and other views depend on this one: drop those, and restart the writer: %w", err)
		}
		return err
	}
	_, err = tx.ExecContext(ctx, `CREATE VIEW `+name+` AS `+query)
	return err
}

func isCode(err error, code string) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && e.Code == code
}

// Changed implements sqlsink.Views.
func (dialect) Changed(before, now string, without []string) string {
	in := func(column string) string {
		return `jsonb_each(CASE jsonb_typeof(` + column + `) WHEN 'object' THEN ` + column + ` ELSE '{}' END)`
	}
	return `(SELECT jsonb_agg(key ORDER BY key) FROM ` + in(before) + ` AS o (key, was) FULL JOIN ` + in(now) + ` AS n (key, now) USING (key)
		WHERE was IS DISTINCT FROM now AND key NOT IN (` + sqlsink.Literals(without) + `))`
}

// JoinOne implements sqlsink.Views.
func (dialect) JoinOne(as, query string) string {
	return `LEFT JOIN LATERAL (` + query + `) ` + as + ` ON true`
}

// Value implements sqlsink.Views. It casts only values for which the cast cannot fail: an error
// would end the whole query.
func (dialect) Value(column string, f format.Column) string {
	key := sqlsink.Literal(f.Name)
	value, text := column+` -> `+key, column+` ->> `+key
	number := `CASE WHEN jsonb_typeof(` + value + `) = 'number' OR ` + text + ` ~ '^\d{1,100}(\.\d{1,100})?$' THEN (` + text + `)::numeric END`
	switch {
	case f.List || f.Type == format.JSON:
		return value
	case f.Type == format.Integer:
		return `CASE WHEN ` + number + ` % 1 = 0 AND ` + number + ` BETWEEN -9223372036854775808 AND 9223372036854775807
			THEN (` + text + `)::numeric::bigint END`
	case f.Type == format.Number:
		return number
	case f.Type == format.Bool:
		return `CASE jsonb_typeof(` + value + `) WHEN 'boolean' THEN (` + value + `)::boolean END`
	case f.Type == format.Time:
		return `seine_time(` + text + `)`
	}
	return text
}

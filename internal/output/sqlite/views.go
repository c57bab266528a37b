package sqlite

import (
	"context"
	"database/sql"
	"strings"

	"seine/internal/output/format"
	"seine/internal/output/sqlsink"
)

// Has implements sqlsink.Views.
func (dialect) Has(ctx context.Context, q sqlsink.Querier, name string) (has bool, err error) {
	err = q.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_schema WHERE name = ?`, name).Scan(&has)
	return has, err
}

// Replace implements sqlsink.Views.
func (dialect) Replace(ctx context.Context, tx *sql.Tx, view, query string) error {
	_, err := tx.ExecContext(ctx, `DROP VIEW IF EXISTS `+sqlsink.Quoted(view)+`; CREATE VIEW `+sqlsink.Quoted(view)+` AS `+query)
	return err
}

// Changed implements sqlsink.Views.
func (dialect) Changed(before, now string, without []string) string {
	in := func(column string) string {
		return `json_each(iif(json_type(` + column + `) = 'object', ` + column + `, '{}'))`
	}
	return `(SELECT json_group_array(name) FROM (
		SELECT n.key AS name FROM ` + in(now) + ` n LEFT JOIN ` + in(before) + ` o ON o.key = n.key WHERE o.key IS NULL OR o.value IS NOT n.value OR o.type <> n.type
		UNION SELECT o.key FROM ` + in(before) + ` o WHERE o.key NOT IN (SELECT key FROM ` + in(now) + `) ORDER BY 1
	) WHERE name NOT IN (` + sqlsink.Literals(without) + `))`
}

// JoinOne implements sqlsink.Views. SQLite has no LATERAL.
func (dialect) JoinOne(as, query string) string {
	return `LEFT JOIN events ` + as + ` ON ` + as + `.rowid = (` + strings.Replace(query, "q.*", "q.place", 1) + `)`
}

// Value implements sqlsink.Views. Records that are nested too deep for SQLite's JSON have no
// fields: an error would end the whole query.
func (dialect) Value(column string, f format.Column) string {
	data := `iif(json_valid(` + column + `), ` + column + `, '{}')`
	path := sqlsink.Literal(`$."` + f.Name + `"`)
	value, kind := `json_extract(`+data+`, `+path+`)`, `json_type(`+data+`, `+path+`)`
	switch {
	case f.List || f.Type == format.JSON:
		return data + ` -> ` + path
	case f.Type == format.Integer:
		return `CASE WHEN typeof(` + value + `) = 'integer' AND ` + kind + ` = 'integer' THEN ` + value + `
			WHEN ` + kind + ` = 'text' AND length(` + value + `) < 19 AND ` + value + ` <> '' AND ` + value + ` NOT GLOB '*[^0-9]*' THEN CAST(` + value + ` AS INTEGER) END`
	case f.Type == format.Number:
		return `CASE WHEN ` + kind + ` IN ('integer', 'real')
			OR ` + kind + ` = 'text' AND ` + value + ` GLOB '*[0-9]*' AND ` + value + ` NOT GLOB '*[^0-9.]*' AND ` + value + ` NOT GLOB '*.*.*' THEN CAST(` + value + ` AS REAL) END`
	case f.Type == format.Bool:
		return `CASE ` + kind + ` WHEN 'true' THEN 1 WHEN 'false' THEN 0 END`
	case f.Type == format.Time:
		// Times have one length, so that they sort. For strftime, 30 February is 2 March, and "now"
		// is a time.
		day := `substr(` + value + `, 1, 10)`
		return `CASE WHEN ` + day + ` GLOB '????-??-??' AND date(` + day + `) = ` + day + ` THEN strftime('%Y-%m-%dT%H:%M:%fZ', ` + value + `) END`
	}
	return `CASE ` + kind + ` WHEN 'true' THEN 'true' WHEN 'false' THEN 'false' ELSE CAST(` + value + ` AS TEXT) END`
}

package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"seine/internal/output/format"
	"seine/internal/output/sqlsink"
)

// Describe implements sqlsink.Database.
func (d *database) Describe(ctx context.Context, kind string, columns []format.Column) error {
	tx, err := d.db.BeginTx(ctx, nil)
	if err != nil {
		return explain(err)
	}
	if err := sqlsink.Describe(ctx, views{tx}, kind, columns); err != nil {
		return explain(errors.Join(err, tx.Rollback()))
	}
	return explain(tx.Commit())
}

// views is a transaction that changes a view.
type views struct{ *sql.Tx }

// Fields implements sqlsink.Views.
func (v views) Fields(ctx context.Context, kind string) (fields []format.Column, err error) {
	all, err := v.QueryContext(ctx, `SELECT name, type FROM fields WHERE kind = ? ORDER BY place`, kind)
	if err != nil {
		return nil, err
	}
	defer all.Close()
	for all.Next() {
		var name, typeName string
		if err := all.Scan(&name, &typeName); err != nil {
			return nil, err
		}
		fields = append(fields, sqlsink.NewField(name, typeName))
	}
	return fields, all.Err()
}

// SetFields implements sqlsink.Views.
func (v views) SetFields(ctx context.Context, kind string, fields []format.Column) error {
	_, err := v.ExecContext(ctx, `DELETE FROM fields WHERE kind = ?`, kind)
	for place, f := range fields {
		if err == nil {
			_, err = v.ExecContext(ctx, `INSERT INTO fields (kind, place, name, type) VALUES (?, ?, ?, ?)`, kind, place, f.Name, sqlsink.TypeName(f))
		}
	}
	return err
}

// Has implements sqlsink.Views.
func (v views) Has(ctx context.Context, view string) (has bool, err error) {
	err = v.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_schema WHERE type = 'view' AND name = ?`, view).Scan(&has)
	return has, err
}

// Replace implements sqlsink.Views.
func (v views) Replace(ctx context.Context, view, query string) error {
	_, err := v.ExecContext(ctx, `DROP VIEW IF EXISTS `+sqlsink.Quoted(view)+`; CREATE VIEW `+sqlsink.Quoted(view)+` AS `+query)
	return err
}

// Value implements sqlsink.Views. A record that SQLite's JSON is too deep for has no
// fields: an error would end the whole query.
func (v views) Value(column string, f format.Column) string {
	data := `iif(json_valid(` + column + `), ` + column + `, '{}')`
	path := sqlsink.Literal(`$."` + f.Name + `"`)
	value, kind := `json_extract(`+data+`, `+path+`)`, `json_type(`+data+`, `+path+`)`
	switch {
	case f.List || f.Type == format.JSON:
		return data + ` -> ` + path
	case f.Type == format.Integer:
		return `CASE ` + kind + ` WHEN 'integer' THEN ` + value + ` END`
	case f.Type == format.Number:
		return `CASE WHEN ` + kind + ` IN ('integer', 'real') THEN CAST(` + value + ` AS REAL) END`
	case f.Type == format.Bool:
		return `CASE ` + kind + ` WHEN 'true' THEN 1 WHEN 'false' THEN 0 END`
	case f.Type == format.Time:
		// Of one length, so that they sort. To strftime 30 February is the 2nd of March, and
		// "now" a time.
		day := `substr(` + value + `, 1, 10)`
		return `CASE WHEN ` + day + ` GLOB '????-??-??' AND date(` + day + `) = ` + day + ` THEN strftime('%Y-%m-%dT%H:%M:%fZ', ` + value + `) END`
	}
	return value
}

package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"seine/internal/output"
	"seine/internal/output/sqlsink"
)

// Commit implements sqlsink.Database.
func (d *database) Commit(ctx context.Context, b *sqlsink.Batch, at output.Hook) (string, error) {
	tx, err := d.DB.BeginTx(ctx, nil)
	if err != nil {
		return "", d.Explain(err)
	}
	defer func() { _ = tx.Rollback() }() // does nothing after a commit
	w := &batch{tx: tx, Batch: b, at: at, dialect: d.Dialect}
	mark, err := w.write(ctx, d.Writer)
	if err == nil {
		err = at.At(output.StepEntrySynced)
	}
	if err == nil {
		err = tx.Commit()
	}
	if isTaken(err) {
		err = fmt.Errorf("%s: %w (%w)", b.Commit.Name(), output.ErrExists, err)
	}
	return mark, d.Explain(err)
}

// batch is a batch that is written to the tables.
type batch struct {
	*sqlsink.Batch
	tx      *sql.Tx
	at      output.Hook
	dialect sqlsink.Dialect
}

// write inserts the entry first: its key shows whether the batch was committed already.
func (b *batch) write(ctx context.Context, writer string) (mark string, err error) {
	if err := b.at.At(sqlsink.StepBegun); err != nil {
		return "", err
	}
	if mark, err = b.entry(ctx, writer); err != nil {
		return "", err
	}
	if err := b.at.At(sqlsink.StepEntry); err != nil {
		return "", err
	}
	for _, send := range []func(context.Context) error{b.events, b.waves, b.sources} {
		if err := send(ctx); err != nil {
			return "", err
		}
	}
	return mark, b.at.At(sqlsink.StepRows)
}

func (b *batch) entry(ctx context.Context, writer string) (mark string, err error) {
	c, now := b.Batch.Commit, stamp(time.Now())
	n := c.Name()
	err = b.tx.QueryRowContext(ctx, `INSERT INTO commits
		(id, writer, partition, epoch, life, first_seq, last_seq, records, committed_at, entry)
		VALUES ((SELECT coalesce(max(id), 0) + 1 FROM commits), ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id, `+b.dialect.Mark(),
		writer, n.Partition, n.StreamCreated, n.Incarnation, n.First, c.LastSeq, c.Records(), now, string(b.Entry)).Scan(&b.ID, &mark)
	return mark, err
}

// insert inserts rows into a table, with a conflict clause for existing rows. Statements for one
// row are short, so it does not let the context interrupt them: the driver would start a goroutine
// for each.
func (b *batch) insert(ctx context.Context, table string, columns []string, all []*sqlsink.Row, conflict string,
	values func(sqlsink.Dialect, *sqlsink.Row) []any,
) error {
	if len(all) == 0 {
		return nil
	}
	st, err := b.tx.PrepareContext(ctx, insertInto(table, columns, conflict))
	if err != nil {
		return err
	}
	for _, r := range all {
		if err = ctx.Err(); err == nil {
			_, err = st.ExecContext(context.WithoutCancel(ctx), values(b.dialect, r)...)
		}
		if err != nil {
			break
		}
	}
	return errors.Join(err, st.Close())
}

func insertInto(table string, columns []string, conflict string) string {
	places := strings.Repeat(", ?", len(columns))[2:]
	return `INSERT INTO ` + table + ` (` + strings.Join(columns, ", ") + `) VALUES (` + places + `) ` + conflict
}

func (b *batch) events(ctx context.Context) error {
	return b.insert(ctx, "events", sqlsink.EventColumns, b.Events, "", b.EventValues)
}

func (b *batch) waves(ctx context.Context) error { return b.PutWaves(ctx, b.dialect, b) }

// Put implements sqlsink.Transaction.
func (b *batch) Put(ctx context.Context, _ int, w *sqlsink.Wave) error {
	if err := b.pages(ctx, w); err != nil {
		return err
	}
	err := b.insert(ctx, "records AS r", sqlsink.RecordColumns, w.Records, sqlsink.Upsert("r", sqlsink.RecordColumns, 3), b.RecordValues)
	if err != nil {
		return err
	}
	return b.replayed(ctx, w)
}

// Exec implements sqlsink.Transaction.
func (b *batch) Exec(ctx context.Context, statement string, args ...any) error {
	_, err := b.tx.ExecContext(ctx, statement, args...)
	return err
}

// Texts implements sqlsink.Transaction.
func (b *batch) Texts(ctx context.Context, query string, args ...any) (all []string, err error) {
	rows, err := b.tx.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		all = append(all, text)
	}
	return all, rows.Err()
}

// pages writes pages, counts the new ones, and updates existing ones that are not newer.
func (b *batch) pages(ctx context.Context, w *sqlsink.Wave) error {
	if err := b.countNew(ctx, w.Pages); err != nil {
		return err
	}
	return b.insert(ctx, "pages AS p", sqlsink.PageColumns, w.Pages, sqlsink.Upsert("p", sqlsink.PageColumns, 2), b.PageValues)
}

func (b *batch) countNew(ctx context.Context, pages []*sqlsink.Row) error {
	if len(pages) == 0 {
		return nil
	}
	st, err := b.tx.PrepareContext(ctx, `SELECT count(*) FROM pages WHERE crawl = ? AND id = ?`)
	if err != nil {
		return err
	}
	for _, r := range pages {
		var known int64
		if err = st.QueryRowContext(context.WithoutCancel(ctx), r.Crawl, r.Item[:]).Scan(&known); err != nil {
			break
		}
		b.AddNew(r.Crawl, r.Host, 1-known)
	}
	return errors.Join(err, st.Close())
}

// replayed deletes the records of a visit that a replay has parsed again, except those of this
// batch, and those that are nested too deep to have a readable generation. Their events stay.
func (b *batch) replayed(ctx context.Context, w *sqlsink.Wave) error {
	const replaced = ` records WHERE url = ?1 AND crawl = ?2 AND kind NOT IN ('gone', 'visit') AND visit = ?3
		AND (place IS NOT NULL OR key IS NOT NULL) AND iif(json_valid(data), coalesce(data ->> '$.generation', ''), ?4) <> ?4 AND commit_id <> ?5`
	for _, r := range w.Replayed {
		for _, statement := range []string{`UPDATE events SET found = NULL WHERE visit = ?3 AND item IN (SELECT id FROM` + replaced + `)`, `DELETE FROM` + replaced} {
			if err := b.Exec(ctx, statement, r.URL, r.Crawl, r.Visit, r.Generation, b.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *batch) sources(ctx context.Context) error {
	for _, h := range b.Hosts {
		_, err := b.tx.ExecContext(ctx, `INSERT INTO sources AS s (crawl, host, first_seen, last_seen, pages)
			VALUES (?, ?, ?, ?, ?) ON CONFLICT (crawl, host) DO UPDATE SET first_seen = min(s.first_seen, excluded.first_seen),
			last_seen = max(s.last_seen, excluded.last_seen), pages = s.pages + excluded.pages`,
			h.Crawl, h.Name, stamp(h.First), stamp(h.Last), h.New)
		if err != nil {
			return err
		}
	}
	return nil
}

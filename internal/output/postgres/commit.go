package postgres

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"seine/internal/output"
	"seine/internal/output/sqlsink"
)

// Temporary tables that a batch passes through. A connection pooler may give this session to a
// writer of another build, whose columns may differ. So the names include the version of the
// tables.
var (
	stagePages   = fmt.Sprintf("stage_pages_%d", len(migrations))
	stageRecords = fmt.Sprintf("stage_records_%d", len(migrations))
)

// begin prepares a transaction for a batch, in one round trip.
func begin(ctx context.Context, tx pgx.Tx) error {
	var b pgx.Batch
	b.Queue(`SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off'`)
	b.Queue(`SET LOCAL client_min_messages = warning`)
	b.Queue(`CREATE TEMP TABLE IF NOT EXISTS ` + stagePages + ` (LIKE pages) ON COMMIT DELETE ROWS`)
	b.Queue(`CREATE TEMP TABLE IF NOT EXISTS ` + stageRecords + ` (LIKE records) ON COMMIT DELETE ROWS`)
	return tx.SendBatch(ctx, &b).Close()
}

// Commit implements sqlsink.Database.
func (d *database) Commit(ctx context.Context, b *sqlsink.Batch, at output.Hook) (string, error) {
	tx, err := d.pool.Begin(ctx)
	if err != nil {
		return "", d.Explain(err)
	}
	w := &batch{tx: tx, Batch: b, at: at, dialect: d.Dialect}
	mark, err := w.write(ctx, d.Writer)
	if err == nil {
		err = at.At(output.StepEntrySynced)
	}
	if err == nil {
		err = tx.Commit(ctx)
	} else {
		_ = tx.Rollback(ctx) // closing the connection does the same
	}
	if c := constraint(err); c == "commits_pkey" || c == "events_pkey" {
		err = fmt.Errorf("%s: %w (%w)", b.Commit.Name(), output.ErrExists, err)
	}
	return mark, d.Explain(err)
}

// batch is a batch that is written to the tables.
type batch struct {
	*sqlsink.Batch
	tx      pgx.Tx
	at      output.Hook
	dialect sqlsink.Dialect
}

// write inserts the entry first: its key shows whether the batch was committed already.
func (b *batch) write(ctx context.Context, writer string) (mark string, err error) {
	if err := begin(ctx, b.tx); err != nil {
		return "", err
	}
	if err := b.at.At(sqlsink.StepBegun); err != nil {
		return "", err
	}
	c := b.Batch.Commit
	n := c.Name()
	err = b.tx.QueryRow(ctx, `INSERT INTO commits (writer, partition, epoch, life, first_seq, last_seq, records, entry)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING id, `+b.dialect.Mark(),
		writer, n.Partition, n.StreamCreated, n.Incarnation, int64(n.First), int64(c.LastSeq), c.Records(), string(b.Entry)).Scan(&b.ID, &mark)
	if err != nil {
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

// copy copies rows to a table with COPY.
func (b *batch) copy(ctx context.Context, table string, columns []string, all []*sqlsink.Row, values func(sqlsink.Dialect, *sqlsink.Row) []any) error {
	next := 0
	_, err := b.tx.CopyFrom(ctx, pgx.Identifier{table}, columns, pgx.CopyFromFunc(func() ([]any, error) {
		if next == len(all) {
			return nil, nil
		}
		next++
		return values(b.dialect, all[next-1]), nil
	}))
	return err
}

func (b *batch) events(ctx context.Context) error {
	if len(b.Events) == 0 {
		return nil
	}
	return b.copy(ctx, "events", sqlsink.EventColumns, b.Events, b.EventValues)
}

func (b *batch) waves(ctx context.Context) error { return b.PutWaves(ctx, b.dialect, b) }

// Put implements sqlsink.Transaction.
func (b *batch) Put(ctx context.Context, n int, w *sqlsink.Wave) error {
	if n > 0 {
		if err := b.Exec(ctx, `TRUNCATE `+stagePages+`, `+stageRecords); err != nil {
			return err
		}
	}
	if err := b.pages(ctx, w); err != nil {
		return err
	}
	if err := b.records(ctx, w); err != nil {
		return err
	}
	return b.replayed(ctx, w)
}

// Exec implements sqlsink.Transaction.
func (b *batch) Exec(ctx context.Context, statement string, args ...any) error {
	_, err := b.tx.Exec(ctx, statement, args...)
	return err
}

// Texts implements sqlsink.Transaction.
func (b *batch) Texts(ctx context.Context, query string, args ...any) ([]string, error) {
	rows, err := b.tx.Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// stage copies rows to a temporary table, and returns a statement that moves them to the table
// itself. It lists columns by name, since users add columns.
func (b *batch) stage(ctx context.Context, stage, table string, columns []string, key int, all []*sqlsink.Row,
	values func(sqlsink.Dialect, *sqlsink.Row) []any,
) (string, error) {
	names := strings.Join(columns, ", ")
	return `INSERT INTO ` + table + ` AS t (` + names + `) SELECT ` + names + ` FROM ` + stage + ` ORDER BY ` + strings.Join(columns[:key], ", ") +
		` ` + sqlsink.Upsert("t", columns, key), b.copy(ctx, stage, columns, all, values)
}

// pages writes pages and counts the new ones.
func (b *batch) pages(ctx context.Context, w *sqlsink.Wave) error {
	if len(w.Pages) == 0 {
		return nil
	}
	put, err := b.stage(ctx, stagePages, "pages", sqlsink.PageColumns, 2, w.Pages, b.PageValues)
	if err != nil {
		return err
	}
	added, err := b.tx.Query(ctx, `WITH put AS (`+put+` RETURNING crawl, host, xmax = 0 AS added)
		SELECT crawl, host, count(*) FROM put WHERE added AND host IS NOT NULL GROUP BY crawl, host`)
	if err != nil {
		return err
	}
	var crawl, host string
	var n int64
	_, err = pgx.ForEachRow(added, []any{&crawl, &host, &n}, func() error {
		b.AddNew(crawl, host, n)
		return nil
	})
	return err
}

func (b *batch) records(ctx context.Context, w *sqlsink.Wave) error {
	if len(w.Records) == 0 {
		return nil
	}
	put, err := b.stage(ctx, stageRecords, "records", sqlsink.RecordColumns, 3, w.Records, b.RecordValues)
	if err != nil {
		return err
	}
	return b.Exec(ctx, put)
}

// replayed deletes the records of a visit that a replay has parsed again, except those of this
// batch, and those that are nested too deep to have a readable generation. Their events stay.
func (b *batch) replayed(ctx context.Context, w *sqlsink.Wave) error {
	const replaced = ` records WHERE url = $1 AND crawl = $2 AND kind NOT IN ('gone', 'visit') AND visit = $3
		AND (place IS NOT NULL OR key IS NOT NULL)
		AND CASE jsonb_typeof(data) WHEN 'object' THEN coalesce(data ->> 'generation', '') ELSE $4 END <> $4 AND commit_id <> $5`
	var queue pgx.Batch
	for _, r := range w.Replayed {
		args := []any{r.URL, r.Crawl, r.Visit, r.Generation, b.ID}
		queue.Queue(`UPDATE events SET found = NULL WHERE visit = $3 AND item IN (SELECT id FROM`+replaced+`)`, args...)
		queue.Queue(`DELETE FROM`+replaced, args...)
	}
	return b.tx.SendBatch(ctx, &queue).Close()
}

func (b *batch) sources(ctx context.Context) error {
	if len(b.Hosts) == 0 {
		return nil
	}
	var crawls, names []string
	var first, last []time.Time
	var added []int64
	for _, h := range b.Hosts {
		crawls, names, added = append(crawls, h.Crawl), append(names, h.Name), append(added, h.New)
		first, last = append(first, h.First), append(last, h.Last)
	}
	_, err := b.tx.Exec(ctx, `INSERT INTO sources AS s (crawl, host, first_seen, last_seen, pages)
		SELECT * FROM unnest($1::text[], $2::text[], $3::timestamptz[], $4::timestamptz[], $5::bigint[])
		ON CONFLICT (crawl, host) DO UPDATE SET first_seen = least(s.first_seen, excluded.first_seen),
		last_seen = greatest(s.last_seen, excluded.last_seen), pages = s.pages + excluded.pages`, crawls, names, first, last, added)
	return err
}

package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"seine/internal/output"
	"seine/internal/output/sqlsink"
)

// Enter implements sqlsink.Database.
func (d *database) Enter(ctx context.Context, p int, created time.Time) (feed int64, err error) {
	feed, err = d.feed(ctx, p, created)
	if errors.Is(err, pgx.ErrNoRows) {
		_, err = d.pool.Exec(ctx, `INSERT INTO feeds (writer, partition, created) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
			d.writer, p, name(created))
		if err == nil {
			feed, err = d.feed(ctx, p, created)
		}
	}
	return feed, d.explain(err)
}

// Knows implements sqlsink.Database.
func (d *database) Knows(ctx context.Context, created time.Time) (known bool, err error) {
	err = d.pool.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM feeds WHERE writer = $1 AND created = $2)`, d.writer, name(created)).Scan(&known)
	return known, d.explain(err)
}

// HasCrawl implements sqlsink.Database.
func (d *database) HasCrawl(ctx context.Context, crawl string) (has bool, err error) {
	err = d.pool.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM sources WHERE crawl = $1)`, crawl).Scan(&has)
	return has, d.explain(err)
}

// Place implements sqlsink.Database.
func (d *database) Place(ctx context.Context, give string) (id string, err error) {
	if give != "" {
		err = pgx.BeginFunc(ctx, d.pool, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, lockKey); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, `INSERT INTO feeds (writer, partition, created)
				SELECT $1, $2, $3 WHERE NOT EXISTS (SELECT 1 FROM feeds WHERE writer = $1 AND partition = $2)`, d.writer, sqlsink.PlaceFeed, give)
			return err
		})
	}
	if err == nil {
		err = d.pool.QueryRow(ctx, `SELECT created FROM feeds WHERE writer = $1 AND partition = $2`, d.writer, sqlsink.PlaceFeed).Scan(&id)
	}
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil
	}
	return id, d.explain(err)
}

func (d *database) feed(ctx context.Context, p int, created time.Time) (feed int64, err error) {
	err = d.pool.QueryRow(ctx, `SELECT id FROM feeds WHERE writer = $1 AND partition = $2 AND created = $3`,
		d.writer, p, name(created)).Scan(&feed)
	return feed, err
}

// name is a time as text: a timestamp of PostgreSQL would lose its nanoseconds.
func name(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// Tables of the session that a batch passes through. A pool on the way may give this
// session to a writer of another build, whose columns may be others: so their names
// have the version.
var (
	stagePages   = fmt.Sprintf("stage_pages_%d", len(migrations))
	stageRecords = fmt.Sprintf("stage_records_%d", len(migrations))
)

// begin makes a transaction ready for a batch, in one round trip.
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
		return "", d.explain(err)
	}
	w := &batch{tx: tx, Batch: b, at: at}
	mark, err := w.write(ctx, d.writer)
	if err == nil {
		err = at.At(output.StepEntrySynced)
	}
	if err == nil {
		err = tx.Commit(ctx)
	} else {
		_ = tx.Rollback(ctx) // the end of the connection does the same
	}
	if c := constraint(err); c == "commits_pkey" || c == "events_pkey" {
		err = fmt.Errorf("%s: %w (%w)", b.Commit.Name(), output.ErrExists, err)
	}
	return mark, d.explain(err)
}

// batch is a batch on its way into the tables.
type batch struct {
	*sqlsink.Batch
	tx pgx.Tx
	at output.Hook
	id int64 // of the commit
}

// write sends the entry first: its key says whether there is anything to do.
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
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING id, `+markOf,
		writer, n.Partition, n.StreamCreated, n.Incarnation, int64(n.First), int64(c.LastSeq), c.Records(), string(b.Entry)).Scan(&b.id, &mark)
	if err != nil {
		return "", err
	}
	if err := b.at.At(sqlsink.StepEntry); err != nil {
		return "", err
	}
	for _, send := range []func(context.Context) error{b.events, b.pages, b.records, b.outdated, b.sources} {
		if err := send(ctx); err != nil {
			return "", err
		}
	}
	return mark, b.at.At(sqlsink.StepRows)
}

// copy sends rows to a table.
func (b *batch) copy(ctx context.Context, table string, columns []string, all []*sqlsink.Row, values func(*sqlsink.Row) []any) error {
	next := 0
	_, err := b.tx.CopyFrom(ctx, pgx.Identifier{table}, columns, pgx.CopyFromFunc(func() ([]any, error) {
		if next == len(all) {
			return nil, nil
		}
		next++
		return values(all[next-1]), nil
	}))
	return err
}

var eventColumns = []string{
	"feed", "id", "commit_id", "crawl", "kind", "item", "url", "visit", "fetched_at", "status", "class", "attempt", "error",
	"detail", "bytes_wire", "bytes_body", "dns_ms", "connect_ms", "tls_ms", "first_byte_ms", "total_ms", "data",
}

func (b *batch) events(ctx context.Context) error {
	if len(b.Events) == 0 {
		return nil
	}
	return b.copy(ctx, "events", eventColumns, b.Events, func(r *sqlsink.Row) []any {
		o := r.Outcome()
		return []any{
			b.Feed, r.Identity[:], b.id, r.Crawl, r.Kind, r.Item[:], r.URLOrNil(), r.VisitOrNil(), moment(r.FetchedAt), r.Status,
			o.Class, o.Attempt, o.Error, o.Detail, o.BytesWire, o.BytesBody,
			o.Timings.DNS, o.Timings.Connect, o.Timings.TLS, o.Timings.FirstByte, o.Timings.Total, storable(r.Own()),
		}
	})
}

// moment is a time as PostgreSQL takes it.
func moment(t time.Time) pgtype.Timestamptz { return pgtype.Timestamptz{Time: t, Valid: true} }

var pageColumns = []string{
	"crawl", "id", "url", "host", "status", "content_type", "title", "description", "canonical", "language", "charset",
	"noindex", "text", "fetched_at", "depth", "referrer", "visit", "round", "duplicate_of", "record", "commit_id",
}

// pages are counted where there was none.
func (b *batch) pages(ctx context.Context) error {
	if len(b.Pages) == 0 {
		return nil
	}
	err := b.copy(ctx, stagePages, pageColumns, b.Pages, func(r *sqlsink.Row) []any {
		p := r.Page()
		return []any{
			r.Crawl, r.Item[:], r.URLOrNil(), r.HostOrNil(), r.Status, p.ContentType, p.Title, p.Description, p.Canonical,
			p.Language, p.Charset, p.NoIndex, p.Text, moment(r.FetchedAt), p.Depth, p.Referrer, r.VisitOrNil(), r.Round,
			r.DuplicateOrNil(), storable(r.Data), b.id,
		}
	})
	if err != nil {
		return err
	}
	added, err := b.tx.Query(ctx, `WITH put AS (
		INSERT INTO pages AS p SELECT * FROM `+stagePages+` ORDER BY crawl, id ON CONFLICT (crawl, id) DO UPDATE SET
		(url, host, status, content_type, title, description, canonical, language, charset, noindex, text, fetched_at, depth,
		referrer, visit, round, duplicate_of, record, commit_id) = (excluded.url, excluded.host, excluded.status,
		excluded.content_type, excluded.title, excluded.description, excluded.canonical, excluded.language, excluded.charset,
		excluded.noindex, excluded.text, excluded.fetched_at, excluded.depth, excluded.referrer, excluded.visit, excluded.round,
		excluded.duplicate_of, excluded.record, excluded.commit_id)
		WHERE (p.fetched_at, p.round) <= (excluded.fetched_at, excluded.round)
		RETURNING crawl, host, xmax = 0 AS added)
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

var recordColumns = []string{
	"crawl", "kind", "id", "key", "place", "url", "fetched_at", "visit", "round", "duplicate_of", "data", "commit_id", "host",
}

func (b *batch) records(ctx context.Context) error {
	if len(b.Records) == 0 {
		return nil
	}
	err := b.copy(ctx, stageRecords, recordColumns, b.Records, func(r *sqlsink.Row) []any {
		return []any{
			r.Crawl, r.Kind, r.Item[:], r.KeyOrNil(), r.PlaceOrNil(), r.URLOrNil(), moment(r.FetchedAt), r.VisitOrNil(),
			r.Round, r.DuplicateOrNil(), storable(r.Data), b.id, r.HostOrNil(),
		}
	})
	if err != nil {
		return err
	}
	_, err = b.tx.Exec(ctx, `INSERT INTO records AS r SELECT * FROM `+stageRecords+` ORDER BY crawl, kind, id
		ON CONFLICT (crawl, kind, id) DO UPDATE SET
		(key, place, url, host, fetched_at, visit, round, duplicate_of, data, commit_id) = (excluded.key, excluded.place, excluded.url,
		excluded.host, excluded.fetched_at, excluded.visit, excluded.round, excluded.duplicate_of, excluded.data, excluded.commit_id)
		WHERE (r.fetched_at, r.round) <= (excluded.fetched_at, excluded.round)`)
	return err
}

// outdated deletes what is not on its page any more: records without a key of the visits
// before its last, and all of a visit that a replay has made again, but for what is of this
// batch, and what is too deep to say of which generation it is. They stay in events.
func (b *batch) outdated(ctx context.Context) error {
	var queue pgx.Batch
	var crawls, urls []string
	for _, r := range b.Visited {
		crawls, urls = append(crawls, r.Crawl), append(urls, r.URL)
	}
	if len(b.Visited) > 0 {
		queue.Queue(`DELETE FROM records r USING unnest($1::text[], $2::text[]) AS v (crawl, url), LATERAL (
			SELECT fetched_at, round, visit FROM pages p WHERE p.url = v.url AND p.crawl = v.crawl
			UNION ALL SELECT fetched_at, round, visit FROM records o WHERE o.url = v.url AND o.crawl = v.crawl AND o.kind <> 'gone'
			ORDER BY fetched_at DESC, round DESC LIMIT 1
		) AS last WHERE r.url = v.url AND r.crawl = v.crawl AND r.place IS NOT NULL AND r.kind <> 'gone'
			AND r.visit <> last.visit AND (r.fetched_at, r.round) < (last.fetched_at, last.round)`, crawls, urls)
	}
	for _, r := range b.Replayed {
		queue.Queue(`DELETE FROM records WHERE url = $1 AND crawl = $2 AND kind <> 'gone' AND visit = $3
			AND (place IS NOT NULL OR key IS NOT NULL)
			AND CASE jsonb_typeof(data) WHEN 'object' THEN coalesce(data ->> 'generation', '') ELSE $4 END <> $4 AND commit_id <> $5`,
			r.URL, r.Crawl, r.Visit, r.Generation, b.id)
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

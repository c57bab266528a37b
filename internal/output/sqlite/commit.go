package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"seine/internal/output"
	"seine/internal/output/sqlsink"
)

// timeLayout is of one length, so that times sort as text does.
const timeLayout = "2006-01-02T15:04:05.000000000Z"

func stamp(t time.Time) string { return t.UTC().Format(timeLayout) }

// Enter implements sqlsink.Database.
func (d *database) Enter(ctx context.Context, p int, created time.Time) (feed int64, err error) {
	at := stamp(created)
	_, err = d.db.ExecContext(ctx, `INSERT OR IGNORE INTO feeds (writer, partition, created) VALUES (?, ?, ?)`, d.writer, p, at)
	if err == nil {
		feed, err = d.feed(ctx, p, created)
	}
	return feed, explain(err)
}

// Knows implements sqlsink.Database.
func (d *database) Knows(ctx context.Context, created time.Time) (known bool, err error) {
	err = d.db.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM feeds WHERE writer = ? AND created = ?)`, d.writer, stamp(created)).Scan(&known)
	return known, explain(err)
}

// HasCrawl implements sqlsink.Database.
func (d *database) HasCrawl(ctx context.Context, crawl string) (has bool, err error) {
	err = d.db.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM sources WHERE crawl = ?)`, crawl).Scan(&has)
	return has, explain(err)
}

// Place implements sqlsink.Database.
func (d *database) Place(ctx context.Context, give string) (id string, err error) {
	if give != "" {
		_, err = d.db.ExecContext(ctx, `INSERT INTO feeds (writer, partition, created)
			SELECT ?1, ?2, ?3 WHERE NOT EXISTS (SELECT 1 FROM feeds WHERE writer = ?1 AND partition = ?2)`, d.writer, sqlsink.PlaceFeed, give)
	}
	if err == nil {
		err = d.db.QueryRowContext(ctx, `SELECT created FROM feeds WHERE writer = ? AND partition = ?`, d.writer, sqlsink.PlaceFeed).Scan(&id)
	}
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return id, explain(err)
}

func (d *database) feed(ctx context.Context, p int, created time.Time) (feed int64, err error) {
	err = d.db.QueryRowContext(ctx, `SELECT id FROM feeds WHERE writer = ? AND partition = ? AND created = ?`,
		d.writer, p, stamp(created)).Scan(&feed)
	return feed, err
}

// Commit implements sqlsink.Database.
func (d *database) Commit(ctx context.Context, b *sqlsink.Batch, at output.Hook) (string, error) {
	tx, err := d.db.BeginTx(ctx, nil)
	if err != nil {
		return "", explain(err)
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	w := &batch{tx: tx, Batch: b, at: at}
	mark, err := w.write(ctx, d.writer)
	if err == nil {
		err = at.At(output.StepEntrySynced)
	}
	if err == nil {
		err = tx.Commit()
	}
	if isTaken(err) {
		err = fmt.Errorf("%s: %w (%w)", b.Commit.Name(), output.ErrExists, err)
	}
	return mark, explain(err)
}

// batch is a batch on its way into the tables.
type batch struct {
	*sqlsink.Batch
	tx *sql.Tx
	at output.Hook
	id int64 // of the commit
}

// write sends the entry first: its key says whether there is anything to do.
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
	for _, send := range []func(context.Context) error{b.events, b.pages, b.records, b.outdated, b.sources} {
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
		VALUES ((SELECT coalesce(max(id), 0) + 1 FROM commits), ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id, `+markOf,
		writer, n.Partition, n.StreamCreated, n.Incarnation, n.First, c.LastSeq, c.Records(), now, string(b.Entry)).Scan(&b.id, &mark)
	return mark, err
}

// each prepares a statement, and runs it with the arguments of each row.
func (b *batch) each(ctx context.Context, all []*sqlsink.Row, text string, args func(*sqlsink.Row) []any, after func(*sqlsink.Row, sql.Result) error) error {
	if len(all) == 0 {
		return nil
	}
	st, err := b.tx.PrepareContext(ctx, text)
	if err != nil {
		return err
	}
	for _, r := range all {
		var done sql.Result
		if done, err = st.ExecContext(ctx, args(r)...); err == nil && after != nil {
			err = after(r, done)
		}
		if err != nil {
			break
		}
	}
	return errors.Join(err, st.Close())
}

func (b *batch) events(ctx context.Context) error {
	return b.each(ctx, b.Events, `INSERT INTO events (feed, id, commit_id, crawl, kind, item, url, visit, fetched_at, status,
		class, attempt, error, detail, bytes_wire, bytes_body, dns_ms, connect_ms, tls_ms, first_byte_ms, total_ms, data)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, func(r *sqlsink.Row) []any {
		o := r.Outcome()
		return []any{
			b.Feed, r.Identity[:], b.id, r.Crawl, r.Kind, r.Item[:], r.URLOrNil(), r.VisitOrNil(), stamp(r.FetchedAt), r.Status,
			o.Class, o.Attempt, o.Error, o.Detail, o.BytesWire, o.BytesBody,
			o.Timings.DNS, o.Timings.Connect, o.Timings.TLS, o.Timings.FirstByte, o.Timings.Total, text(r.Own()),
		}
	}, nil)
}

// text returns JSON as the text that it is, and nil for none.
func text(b []byte) any {
	if b == nil {
		return nil
	}
	return string(b)
}

// pages are inserted where there is none yet, which counts them, and updated where
// there is one that is not newer.
func (b *batch) pages(ctx context.Context) error {
	var known []*sqlsink.Row
	args := func(r *sqlsink.Row) []any {
		p := r.Page()
		return []any{
			r.URLOrNil(), r.HostOrNil(), r.Status, p.ContentType, p.Title, p.Description, p.Canonical, p.Language, p.Charset,
			p.NoIndex, p.Text, stamp(r.FetchedAt), p.Depth, p.Referrer, r.VisitOrNil(), r.Round, r.DuplicateOrNil(),
			string(r.Data), b.id, r.Crawl, r.Item[:],
		}
	}
	err := b.each(ctx, b.Pages, `INSERT INTO pages (url, host, status, content_type, title, description, canonical, language, charset,
		noindex, text, fetched_at, depth, referrer, visit, round, duplicate_of, record, commit_id, crawl, id)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (crawl, id) DO NOTHING`,
		args, func(r *sqlsink.Row, done sql.Result) error {
			n, err := done.RowsAffected()
			if n == 0 {
				known = append(known, r)
			}
			b.AddNew(r.Crawl, r.Host, n)
			return err
		})
	if err != nil {
		return err
	}
	return b.each(ctx, known, `UPDATE pages SET (url, host, status, content_type, title, description, canonical, language, charset,
		noindex, text, fetched_at, depth, referrer, visit, round, duplicate_of, record, commit_id)
		= (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)
		WHERE crawl = ?20 AND id = ?21 AND (fetched_at, round) <= (?12, ?16)`, args, nil)
}

func (b *batch) records(ctx context.Context) error {
	return b.each(ctx, b.Records, `INSERT INTO records AS r
		(crawl, kind, id, key, place, url, host, fetched_at, visit, round, duplicate_of, data, commit_id)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (crawl, kind, id) DO UPDATE SET
		(key, place, url, host, fetched_at, visit, round, duplicate_of, data, commit_id) = (excluded.key, excluded.place, excluded.url,
		excluded.host, excluded.fetched_at, excluded.visit, excluded.round, excluded.duplicate_of, excluded.data, excluded.commit_id)
		WHERE (r.fetched_at, r.round) <= (excluded.fetched_at, excluded.round)`, func(r *sqlsink.Row) []any {
		return []any{
			r.Crawl, r.Kind, r.Item[:], r.KeyOrNil(), r.PlaceOrNil(), r.URLOrNil(), r.HostOrNil(), stamp(r.FetchedAt), r.VisitOrNil(),
			r.Round, r.DuplicateOrNil(), string(r.Data), b.id,
		}
	}, nil)
}

// outdated deletes what is not on its page any more: records without a key of the visits
// before its last, and all of a visit that a replay has made again, but for what is of this
// batch, and what is too deep to say of which generation it is. They stay in events.
func (b *batch) outdated(ctx context.Context) error {
	err := b.each(ctx, b.Visited, `WITH last AS (
			SELECT fetched_at, round, visit FROM pages WHERE url = ?1 AND crawl = ?2
			UNION ALL SELECT fetched_at, round, visit FROM records WHERE url = ?1 AND crawl = ?2 AND kind <> 'gone'
			ORDER BY fetched_at DESC, round DESC LIMIT 1)
		DELETE FROM records WHERE url = ?1 AND crawl = ?2 AND place IS NOT NULL AND kind <> 'gone'
		AND visit <> (SELECT visit FROM last) AND (fetched_at, round) < (SELECT fetched_at, round FROM last)`,
		func(r *sqlsink.Row) []any { return []any{r.URL, r.Crawl} }, nil)
	if err != nil {
		return err
	}
	return b.each(ctx, b.Replayed, `DELETE FROM records WHERE url = ?1 AND crawl = ?2 AND kind <> 'gone' AND visit = ?3
		AND (place IS NOT NULL OR key IS NOT NULL) AND iif(json_valid(data), coalesce(data ->> '$.generation', ''), ?4) <> ?4 AND commit_id <> ?5`,
		func(r *sqlsink.Row) []any { return []any{r.URL, r.Crawl, r.Visit, r.Generation, b.id} }, nil)
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

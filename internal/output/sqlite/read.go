package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	"seine/internal/output"
	"seine/internal/output/sqlsink"
)

// markOf is what changes of an entry when somebody changes it; it does not read the
// entry.
const markOf = `octet_length(entry) || '.' || committed_at`

// List implements sqlsink.Database.
func (d *database) List(ctx context.Context, p int) ([]output.Ref, error) {
	all, err := d.db.QueryContext(ctx, `SELECT partition, epoch, life, first_seq, `+markOf+` FROM commits
		WHERE writer = ?1 AND (?2 < 0 OR partition = ?2)`, d.writer, p)
	if err != nil {
		return nil, explain(err)
	}
	defer all.Close()
	var refs []output.Ref
	for all.Next() {
		var r output.Ref
		if err := all.Scan(&r.Partition, &r.StreamCreated, &r.Incarnation, &r.First, &r.Stamp); err != nil {
			return nil, err
		}
		refs = append(refs, r)
	}
	output.SortRefs(refs)
	return refs, explain(all.Err())
}

// Entry implements sqlsink.Database.
func (d *database) Entry(ctx context.Context, n output.Name) (text []byte, err error) {
	err = d.db.QueryRowContext(ctx, `SELECT entry FROM commits
		WHERE writer = ? AND partition = ? AND epoch = ? AND life = ? AND first_seq = ?`,
		d.writer, n.Partition, n.StreamCreated, n.Incarnation, n.First).Scan(&text)
	return text, explain(err)
}

// of is an event of a commit with its row.
const of = `FROM events e
	LEFT JOIN pages p ON e.kind = 'page' AND p.crawl = e.crawl AND p.id = e.item
	LEFT JOIN records r ON r.crawl = e.crawl AND r.kind = e.kind AND r.id = e.item
	WHERE e.feed = ? AND e.id = ?`

// eachEvent runs a query with the feed and the identity of each record of c, the last
// one first.
func (d *database) eachEvent(ctx context.Context, c *output.Commit, query string, do func(*sql.Row) error) error {
	feed, err := d.feed(ctx, c.Partition, c.Created)
	if err != nil {
		return err
	}
	tx, err := d.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	st, err := tx.PrepareContext(ctx, query)
	if err != nil {
		return err
	}
	defer st.Close()
	for end := len(c.Visits); end >= output.IdentitySize; end -= output.IdentitySize {
		if err := do(st.QueryRowContext(ctx, feed, c.Visits[end-output.IdentitySize:end])); err != nil {
			return err
		}
	}
	return nil
}

// Latest implements sqlsink.Database. Two records of one item in a batch have one row,
// which is told once.
func (d *database) Latest(ctx context.Context, c *output.Commit, crawl, kind string, do func(line []byte) error) error {
	var lines [][]byte
	told := make(map[string]bool)
	err := d.eachEvent(ctx, c, `SELECT e.crawl, e.kind, e.item, CASE WHEN p.commit_id = e.commit_id THEN p.record
		WHEN r.commit_id = e.commit_id THEN r.data WHEN e.class IS NOT NULL THEN e.data END `+of, func(row *sql.Row) error {
		var crawlOf, kindOf string
		var item, line []byte
		err := row.Scan(&crawlOf, &kindOf, &item, &line)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err == nil && crawlOf == crawl && kindOf == kind && line != nil && !told[string(item)] {
			told[string(item)] = true
			lines = append(lines, line)
		}
		return err
	})
	for _, line := range slices.Backward(lines) {
		if err != nil {
			break
		}
		err = do(line)
	}
	return explain(err)
}

// Missing implements sqlsink.Database.
func (d *database) Missing(ctx context.Context, c *output.Commit) (events, lost int, err error) {
	err = d.eachEvent(ctx, c, `SELECT e.class IS NOT NULL OR p.id IS NOT NULL OR r.id IS NOT NULL OR `+sqlsink.Outdated+of, func(row *sql.Row) error {
		var has bool
		err := row.Scan(&has)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			events++
			return nil
		case err == nil && !has:
			lost++
		}
		return err
	})
	return events, lost, explain(err)
}

// All implements sqlsink.Database.
func (d *database) All(ctx context.Context, do func(crawl string, line []byte) error) error {
	all, err := d.db.QueryContext(ctx, `SELECT crawl, record FROM pages UNION ALL SELECT crawl, data FROM records`)
	if err != nil {
		return explain(err)
	}
	defer all.Close()
	for all.Next() {
		var crawl string
		var line sql.RawBytes
		if err := all.Scan(&crawl, &line); err != nil {
			return err
		}
		if err := do(crawl, line); err != nil {
			return err
		}
	}
	return explain(all.Err())
}

var _ sqlsink.Database = (*database)(nil)

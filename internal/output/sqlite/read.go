package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	"seine/internal/output"
	"seine/internal/output/sqlsink"
)

// of joins an event of a commit with its row.
const of = `FROM events e
	LEFT JOIN pages p ON e.kind = 'page' AND p.crawl = e.crawl AND p.id = e.item
	LEFT JOIN records r ON r.crawl = e.crawl AND r.kind = e.kind AND r.id = e.item
	WHERE e.feed = ? AND e.id = ?`

// eachEvent runs a query with the feed and the identity of each record of c, from last to first.
func (d *database) eachEvent(ctx context.Context, c *output.Commit, query string, do func(*sql.Row) error) error {
	feed, err := d.Feed(ctx, c.Partition, c.Created)
	if err != nil {
		return err
	}
	tx, err := d.DB.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
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

// Latest implements sqlsink.Database. Two records of one item in a batch share a row, which is
// returned once.
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
	return d.Explain(err)
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
	return events, lost, d.Explain(err)
}

var _ sqlsink.Database = (*database)(nil)

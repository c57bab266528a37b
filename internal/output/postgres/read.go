package postgres

import (
	"context"

	"seine/internal/output"
	"seine/internal/output/sqlsink"
)

// of joins the identities of a commit with their events and rows, if any.
const of = `FROM unnest($2::bytea[]) WITH ORDINALITY v (id, n)
	LEFT JOIN events e ON e.feed = $1 AND e.id = v.id
	LEFT JOIN pages p ON e.kind = 'page' AND p.crawl = e.crawl AND p.id = e.item
	LEFT JOIN records r ON r.crawl = e.crawl AND r.kind = e.kind AND r.id = e.item`

// Latest implements sqlsink.Database. Two records of one item in a batch share a row, which is
// returned once.
func (d *database) Latest(ctx context.Context, c *output.Commit, crawl, kind string, do func(line []byte) error) error {
	feed, err := d.Feed(ctx, c.Partition, c.Created)
	if err != nil {
		return d.Explain(err)
	}
	return d.lines(ctx, do, `SELECT line FROM (
		SELECT DISTINCT ON (e.item) v.n, CASE WHEN p.commit_id = e.commit_id THEN p.record
			WHEN r.commit_id = e.commit_id THEN r.data WHEN e.class IS NOT NULL THEN e.data END::text AS line `+of+`
		WHERE e.crawl = $3 AND e.kind = $4 ORDER BY e.item, v.n DESC) latest
		WHERE line IS NOT NULL ORDER BY n`, feed, identities(c), crawl, kind)
}

// Missing implements sqlsink.Database.
func (d *database) Missing(ctx context.Context, c *output.Commit) (events, lost int, err error) {
	feed, err := d.Feed(ctx, c.Partition, c.Created)
	if err == nil {
		err = d.pool.QueryRow(ctx, `SELECT count(*) FILTER (WHERE e.id IS NULL),
			count(*) FILTER (WHERE e.id IS NOT NULL AND e.class IS NULL AND p.id IS NULL AND r.id IS NULL AND NOT `+sqlsink.Outdated+`) `+of,
			feed, identities(c)).Scan(&events, &lost)
	}
	return events, lost, d.Explain(err)
}

func identities(c *output.Commit) [][]byte {
	var all [][]byte
	for ids := c.Visits; len(ids) >= output.IdentitySize; ids = ids[output.IdentitySize:] {
		all = append(all, ids[:output.IdentitySize])
	}
	return all
}

// lines calls do with each row of a query, which is one text, while it reads them.
func (d *database) lines(ctx context.Context, do func(line []byte) error, query string, args ...any) error {
	all, err := d.pool.Query(ctx, query, args...)
	if err != nil {
		return d.Explain(err)
	}
	defer all.Close()
	for all.Next() {
		if err := do(all.RawValues()[0]); err != nil {
			return err
		}
	}
	return d.Explain(all.Err())
}

var _ sqlsink.Database = (*database)(nil)

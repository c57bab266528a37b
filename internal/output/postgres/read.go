package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"seine/internal/output"
	"seine/internal/output/sqlsink"
)

// markOf is what changes of an entry when somebody changes it; it does not read the
// entry.
const markOf = `octet_length(entry) || '.' || extract(epoch FROM committed_at)`

// List implements sqlsink.Database.
func (d *database) List(ctx context.Context, p int) ([]output.Ref, error) {
	all, err := d.pool.Query(ctx, `SELECT partition, epoch, life, first_seq, `+markOf+` FROM commits
		WHERE writer = $1 AND ($2::int < 0 OR partition = $2)`, d.writer, p)
	if err != nil {
		return nil, d.explain(err)
	}
	var refs []output.Ref
	var r output.Ref
	var first int64
	_, err = pgx.ForEachRow(all, []any{&r.Partition, &r.StreamCreated, &r.Incarnation, &first, &r.Stamp}, func() error {
		r.First = uint64(first)
		refs = append(refs, r)
		return nil
	})
	output.SortRefs(refs)
	return refs, d.explain(err)
}

// Entry implements sqlsink.Database.
func (d *database) Entry(ctx context.Context, n output.Name) ([]byte, error) {
	var text string
	err := d.pool.QueryRow(ctx, `SELECT entry FROM commits
		WHERE writer = $1 AND partition = $2 AND epoch = $3 AND life = $4 AND first_seq = $5`,
		d.writer, n.Partition, n.StreamCreated, n.Incarnation, int64(n.First)).Scan(&text)
	return []byte(text), d.explain(err)
}

// of are the identities of a commit, with their events and rows where there are any.
const of = `FROM unnest($2::bytea[]) WITH ORDINALITY v (id, n)
	LEFT JOIN events e ON e.feed = $1 AND e.id = v.id
	LEFT JOIN pages p ON e.kind = 'page' AND p.crawl = e.crawl AND p.id = e.item
	LEFT JOIN records r ON r.crawl = e.crawl AND r.kind = e.kind AND r.id = e.item`

// Latest implements sqlsink.Database. Two records of one item in a batch have one row,
// which is told once.
func (d *database) Latest(ctx context.Context, c *output.Commit, crawl, kind string, do func(line []byte) error) error {
	feed, err := d.feed(ctx, c.Partition, c.Created)
	if err != nil {
		return d.explain(err)
	}
	return d.lines(ctx, do, `SELECT line FROM (
		SELECT DISTINCT ON (e.item) v.n, CASE WHEN p.commit_id = e.commit_id THEN p.record
			WHEN r.commit_id = e.commit_id THEN r.data WHEN e.class IS NOT NULL THEN e.data END::text AS line `+of+`
		WHERE e.crawl = $3 AND e.kind = $4 ORDER BY e.item, v.n DESC) latest
		WHERE line IS NOT NULL ORDER BY n`, feed, identities(c), crawl, kind)
}

// Missing implements sqlsink.Database.
func (d *database) Missing(ctx context.Context, c *output.Commit) (events, lost int, err error) {
	feed, err := d.feed(ctx, c.Partition, c.Created)
	if err == nil {
		err = d.pool.QueryRow(ctx, `SELECT count(*) FILTER (WHERE e.id IS NULL),
			count(*) FILTER (WHERE e.id IS NOT NULL AND e.class IS NULL AND p.id IS NULL AND r.id IS NULL AND NOT `+sqlsink.Outdated+`) `+of,
			feed, identities(c)).Scan(&events, &lost)
	}
	return events, lost, d.explain(err)
}

func identities(c *output.Commit) [][]byte {
	var all [][]byte
	for ids := c.Visits; len(ids) >= output.IdentitySize; ids = ids[output.IdentitySize:] {
		all = append(all, ids[:output.IdentitySize])
	}
	return all
}

// All implements sqlsink.Database.
func (d *database) All(ctx context.Context, do func(crawl string, line []byte) error) error {
	return d.each(ctx, func(row [][]byte) error { return do(string(row[0]), row[1]) },
		`SELECT crawl, record::text FROM pages UNION ALL SELECT crawl, data::text FROM records`)
}

// lines calls do with each row of a query, as it comes.
func (d *database) lines(ctx context.Context, do func(line []byte) error, query string, args ...any) error {
	return d.each(ctx, func(row [][]byte) error { return do(row[0]) }, query, args...)
}

// each calls do with the columns of each row of a query, which are texts, as it comes.
func (d *database) each(ctx context.Context, do func(row [][]byte) error, query string, args ...any) error {
	all, err := d.pool.Query(ctx, query, args...)
	if err != nil {
		return d.explain(err)
	}
	defer all.Close()
	for all.Next() {
		if err := do(all.RawValues()); err != nil {
			return err
		}
	}
	return d.explain(all.Err())
}

var _ sqlsink.Database = (*database)(nil)

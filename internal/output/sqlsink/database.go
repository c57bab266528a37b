package sqlsink

import (
	"context"
	"time"

	"seine/internal/output"
	"seine/internal/output/format"
)

// Database is what a Sink asks of a database: the work of one writer in it. It is
// safe for concurrent use.
type Database interface {
	// Enter returns the number of partition p of the life of the stream that began
	// at created.
	Enter(ctx context.Context, p int, created time.Time) (feed int64, err error)
	// Knows reports whether anything has entered of the life of the stream that began at
	// created.
	Knows(ctx context.Context, created time.Time) (bool, error)
	// HasCrawl reports whether there are rows of a crawl.
	HasCrawl(ctx context.Context, crawl string) (bool, error)
	// Place returns the name of the place, "" if it has none; one without a name gets
	// give, unless that is empty.
	Place(ctx context.Context, give string) (string, error)
	// List returns the entries of partition p, in order, or of all for a negative p.
	List(ctx context.Context, p int) ([]output.Ref, error)
	// Entry returns the text of an entry.
	Entry(ctx context.Context, n output.Name) ([]byte, error)
	// Commit adds b in one transaction, which is durable when it returns nil, and
	// returns the stamp of the entry. It returns output.ErrExists when the name of the
	// entry, or the identity of a row, is in use. Between its steps it calls at.
	Commit(ctx context.Context, b *Batch, at output.Hook) (stamp string, err error)
	// Describe makes the views of a kind, or adds these columns of a revision of a spec to them, in a
	// separate transaction, which does not wait for long.
	Describe(ctx context.Context, kind string, columns []format.Column, rev int64) error
	// Latest calls do with each record of c, of a crawl and a kind, that is still the
	// latest, as a line of JSON.
	Latest(ctx context.Context, c *output.Commit, crawl, kind string, do func(line []byte) error) error
	// Missing counts the identities of c without an event, and the events among the
	// others without a row.
	Missing(ctx context.Context, c *output.Commit) (events, rows int, err error)
	// All calls do with the record of every row of pages and records, and its crawl.
	All(ctx context.Context, do func(crawl string, line []byte) error) error
	// Items and Changes are those of Sink.
	Items(ctx context.Context, c Choice, do func(crawl string, line []byte) error) error
	Changes(ctx context.Context, c Choice, do func(crawl string, line []byte) error) error
	Close() error
}

// Steps of a transaction, beside those of package output. Where a directory syncs
// and renames its entry, the transaction is about to end and has ended.
const (
	StepBegun = "transaction begun" // and nothing was sent
	StepEntry = "entry sent"
	StepRows  = "rows sent"
)

// Outdated is an expression for whether the record of an event e, which has no row, gave way
// to what its page had later.
const Outdated = `(EXISTS (SELECT 1 FROM pages n WHERE n.url = e.url AND n.crawl = e.crawl
		AND (n.visit <> e.visit AND n.fetched_at > e.fetched_at OR n.visit = e.visit AND CAST(n.record AS text) LIKE '%"generation":%'))
	OR EXISTS (SELECT 1 FROM records n WHERE n.url = e.url AND n.crawl = e.crawl
		AND (n.visit <> e.visit AND n.fetched_at > e.fetched_at OR n.visit = e.visit AND CAST(n.data AS text) LIKE '%"generation":%'))) `

package sqlsink

import (
	"context"

	"seine/internal/output"
)

// Database is what each database does in its own way for a Sink: the work of one writer in it. It embeds Tables, and is safe for
// concurrent use.
type Database interface {
	// SharedTables returns its tables.
	SharedTables() *Tables
	// Commit adds b in one transaction, which is durable when it returns nil, and
	// returns the stamp of the entry. It returns output.ErrExists when the name of the
	// entry, or the identity of a row, is in use. Between its steps it calls at.
	Commit(ctx context.Context, b *Batch, at output.Hook) (stamp string, err error)
	// Latest calls do with each record of c, of a crawl and a kind, that is still the
	// latest, as a line of JSON.
	Latest(ctx context.Context, c *output.Commit, crawl, kind string, do func(line []byte) error) error
	// Missing counts the identities of c without an event, and the events among the
	// others without a row.
	Missing(ctx context.Context, c *output.Commit) (events, rows int, err error)
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

package sqlsink

import (
	"context"

	"seine/internal/output"
)

// Database is the database-specific part of a Sink, for one writer. Implementations embed Tables.
// It is safe for concurrent use.
type Database interface {
	// SharedTables returns its tables.
	SharedTables() *Tables
	// Commit adds b in one transaction, which is durable when it returns nil, and returns the stamp
	// of the entry. It returns output.ErrExists if the name of the entry or the identity of a row
	// is in use. It calls at between its steps.
	Commit(ctx context.Context, b *Batch, at output.Hook) (stamp string, err error)
	// Latest calls do with each record of c, of a crawl and a kind, that is still the latest, as a
	// line of JSON.
	Latest(ctx context.Context, c *output.Commit, crawl, kind string, do func(line []byte) error) error
	// Missing counts the identities of c without an event, and the remaining events without a row.
	Missing(ctx context.Context, c *output.Commit) (events, rows int, err error)
	Close() error
}

// Steps of a transaction, besides those of package output. At the steps where a directory syncs and
// renames its entry, the transaction is about to end and has ended.
const (
	StepBegun = "transaction begun" // before anything is sent
	StepEntry = "entry sent"
	StepRows  = "rows sent"
)

// Outdated is an SQL expression for whether the record of an event e, which has no row, was
// replaced by a later record of its page.
const Outdated = `(EXISTS (SELECT 1 FROM pages n WHERE n.url = e.url AND n.crawl = e.crawl
		AND (n.visit <> e.visit AND n.fetched_at > e.fetched_at OR n.visit = e.visit AND CAST(n.record AS text) LIKE '%"generation":%'))
	OR EXISTS (SELECT 1 FROM records n WHERE n.url = e.url AND n.crawl = e.crawl
		AND (n.visit <> e.visit AND n.fetched_at > e.fetched_at OR n.visit = e.visit AND CAST(n.data AS text) LIKE '%"generation":%'))) `

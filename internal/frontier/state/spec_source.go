package state

import (
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// SpecSource gives a partition the specs of crawls.
type SpecSource interface {
	// Rules returns the newest spec of a crawl, at least of revision rev. The rules of a lost spec stall the crawl.
	Rules(crawl string, rev uint64) (*Rules, error)
	// Generation is incremented by every change of a spec.
	Generation() uint64
	// Changes returns the changes after a generation, at least the last one of each crawl.
	Changes(since uint64) []crawlspec.Change
	// Known returns the progress up to which all changes are known, and included by Changes after
	// this call.
	Known() crawlspec.Progress
	// Revision returns the revision of a crawl's spec, and whether it is known.
	Revision(crawl string) (rev uint64, known bool)
	// Seeded reports whether the spec of a crawl, if known, lists seeds.
	Seeded(crawl string) bool
	// Deletion returns the last known deletion of a crawl, nil if there is none.
	Deletion(crawl string) *messages.Deletion
}

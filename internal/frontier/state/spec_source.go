package state

import (
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// SpecSource gives a partition the specs of the crawls.
type SpecSource interface {
	// Rules returns the newest spec of a crawl, at least of revision rev. The rules of a lost spec stall the crawl.
	Rules(crawl string, rev uint64) (*Rules, error)
	// Generation grows with every change of any of them.
	Generation() uint64
	// Changes returns what has become known after a generation, of each crawl at least
	// the last change.
	Changes(since uint64) []crawlspec.Change
	// Known says up to where all is known, and in what Changes returns after the call.
	Known() crawlspec.Progress
	// Revision returns the revision of a crawl's spec, and whether that is known.
	Revision(crawl string) (rev uint64, known bool)
	// Seeded reports whether the spec of a crawl lists seeds, as far as it is known.
	Seeded(crawl string) bool
	// Deletion returns the last deletion of a crawl as far as it is known, nil if
	// there is none.
	Deletion(crawl string) *messages.Deletion
}

package messages

import "strconv"

// Keys of the buckets that belong to one crawl, beside its spec and its deletion.

// KeyBudget is the key in BucketMeta of the budget grants of a crawl, given its Incarnation.
func KeyBudget(crawl string) string { return "budget." + crawl }

// KeyAlerts is the key in BucketMeta of a crawl's alerts.
func KeyAlerts(crawl string) string { return "alerts." + crawl }

// KeyWriter is the key in BucketMeta of the binding of a writer's name.
func KeyWriter(name string) string { return "writer." + name }

// Incarnation identifies a crawl among deleted ones with the same name: see Visit.Incarnation. The
// keys of its duplicates begin with it, and its budgets are stored under it.
func Incarnation(crawl string, incarnation uint32) string {
	if incarnation == 0 {
		return crawl
	}
	return crawl + "=" + strconv.FormatUint(uint64(incarnation), 10)
}

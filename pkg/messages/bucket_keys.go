package messages

import "strconv"

// Keys of the buckets that belong to one crawl, beside its spec and its deletion.

// KeyBudget is the key in BucketMeta of what each partition may take of the budgets of a crawl, given its Incarnation.
func KeyBudget(crawl string) string { return "budget." + crawl }

// KeyAlerts is the key in BucketMeta of a crawl's alerts.
func KeyAlerts(crawl string) string { return "alerts." + crawl }

// KeyWriter is the key in BucketMeta of what the name of a writer is bound to.
func KeyWriter(name string) string { return "writer." + name }

// Incarnation names a crawl among those of its name that were deleted before: see
// Visit.Incarnation. The keys of its duplicates begin with it, and its budgets are under it.
func Incarnation(crawl string, incarnation uint32) string {
	if incarnation == 0 {
		return crawl
	}
	return crawl + "=" + strconv.FormatUint(uint64(incarnation), 10)
}

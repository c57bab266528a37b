// Package backup copies a cluster into a folder while it crawls, and makes a cluster of such
// a copy again.
//
// It consumes what NATS has of a cluster: the streams with their consumers, the buckets, and
// the newest snapshot of each partition of the frontiers; it emits a folder with a file for each, and
// Manifest, which lists them with their SHA-256 and is written last: a folder without it is no backup. Restore
// consumes such a folder, and emits the same streams, with the same sequences, in a server
// that has none of them. Stores of frontiers and indexes of writers are not copied: they are made
// again from this and from the output. The output is not copied: see below.
//
// Nothing is stopped meanwhile, so the parts are of different moments. That they fit together follows from their
// order: a stage acknowledges a message when all that comes of it is stored, so a copy that takes first
// what is read, and then what is written, has each message in one place at least:
//
//	key         of the work, in the bucket of leases: while it is there no Janitor purges anything
//	snapshots   what a snapshot lacks is in URLS and RESULTS, which are copied later, from its positions on
//	FETCH       a request that is missing is sent again; one that has been done since is a repeat
//	SEEDS       a seed that is acknowledged here is in URLS
//	RESULTS     of each page that it names, PAGES has the page
//	PAGES       of each page that is acknowledged here, URLS has the links and RECORDS the records
//	URLS        of each visit that ends here, RECORDS has the records
//	RECORDS, DEAD, the bodies of pages
//	buckets     last what all stages agree on, and then the leases, whose numbers exceed those of all owners in it
//
// Guarantees: no URL that was acknowledged before the backup began is lost by a restore, and all that was
// unread is read. What came after the backup is lost: seeds, changes of specs, and the ends of
// visits, which are made again. A writer whose output has the records of those visits drops the
// repeats, since they have the same identity (see package writer), so the output has each record once,
// whether it is as it was at the end, or any copy of it that was made after the backup began.
package backup

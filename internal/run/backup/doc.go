// Package backup copies a running cluster into a directory, and restores a cluster from such a
// copy.
//
// A backup contains the streams with their consumers, the buckets, and the newest snapshot of each
// partition of the frontier, each in a file of its own. The Manifest lists the files with their
// SHA-256; it is written last, so a directory without it is not a backup. Restore re-creates the
// streams, with the same sequences, on a server that has none of them. Stores of frontiers and
// indexes of writers are not copied: they are rebuilt from the backup and from the output. The
// output itself is not copied: see below.
//
// The cluster keeps running, so the parts are copied at different times. Their order makes them
// consistent. A stage acknowledges a message after it has stored the results. If a copy takes first
// the streams that stages read and then those that they write, each message is in at least one of
// them:
//
//	key         of the backup, in the bucket of leases: while it exists, no Janitor purges a stream
//	snapshots   messages missing in a snapshot are in URLS and RESULTS, which are copied later, from its positions on
//	FETCH       a missing request is sent again; one that was completed since is repeated
//	SEEDS       an acknowledged seed is in URLS
//	RESULTS     PAGES has each page that it names
//	PAGES       of an acknowledged page, URLS has the links and RECORDS the records
//	URLS        of each completed visit, RECORDS has the records
//	RECORDS, DEAD, the bodies of pages
//	buckets     last the layout that all stages share, then the leases, whose sequence exceeds the epoch of every owner in it
//
// Guarantees: a restore loses no URL that was acknowledged before the backup began, and all unread
// messages are read. Later changes are lost: seeds, changes of specs, and completed visits, which
// are repeated. A writer drops the repeated records of those visits if its output has them, since
// their identity is the same (see package writer). So the output has each record once, whether it
// is the latest output or any copy made after the backup began.
package backup

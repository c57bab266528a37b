// Package writer writes records to files, or to rows of a database.
//
// It consumes RECORDS (or PAGES or RESULTS) for every partition whose lease it holds, and writes
// the messages into chunks: files of many records, one for each group (the crawl and, if the path
// has them, kind and day), encoded by a format.Format and stored by an output.Sink. Invalid records
// go to DEAD. Every record in RECORDS is in the committed output once, whatever is killed at any
// moment: a file counts when a commit entry names it.
//
// # The commit
//
// A partition has one open set at a time: the messages after the last commit. Its commit has four
// steps, and only the third decides.
//
//  1. Records are appended to chunks under temporary names. A bad record is published to DEAD, and
//     acknowledged there, before the next message is handled. A crash leaves temporary files, which the
//     next owner removes; it reads the same messages again, and JetStream recognises the dead letters.
//  2. At the limit of records, bytes or age, or when the partition is released, each chunk is finished,
//     synced, renamed to its final name, and its directory synced. A crash leaves chunks under final names
//     that no entry names: the next owner removes them, and writes them again.
//  3. One entry that names the chunks and the last sequence is written to the log: a temporary file,
//     synced, renamed, its directory synced. Before the rename nothing is committed, and a crash has the
//     same effect as in step 2. After it everything is: the next owner starts after the last sequence.
//     There is no state in between, because a rename is atomic, and the chunks were durable before.
//  4. The last message is acknowledged, which acknowledges all before it. A crash before that only keeps
//     history for longer: an owner starts at the end of the log, not at the server's position.
//
// A failure is treated like a crash: after any error the open set is dropped, the partition waits,
// and restarts from the log. It does not guess whether the failed entry exists. Meanwhile the
// stream holds the rest.
//
// # Exclusive access
//
// Leases can overlap while an owner is frozen. So a directory admits one process at a time to a
// partition, with a lock that ends with its process. The next owner waits for it, and an owner that
// resumes finds the log unchanged. S3 has no such lock: there, only one of the writers that saw the
// same end of the log can store the next entry, and in a database only one can insert it. The steps
// above are those of a directory; bucket.Sink and package rows describe the differences, and why
// the result is the same.
//
// # Names
//
// A chunk is named by partition, incarnation of the stream, and the sequence of the first message
// of its commit. After a crash the same sequence yields the same name; nothing committed is written
// again. A re-created stream uses the same sequences for other messages, so the name contains the
// stream's creation time. A stream that lost its tail (power loss) uses them again under the same
// creation time: the messages that are then read go under the next incarnation number.
//
// # Objects
//
// If each record is a file with its own path, step 2 stores all objects of the set before the
// entry, and overwrites existing ones. They are not leftovers after a crash, and are not removed:
// the objects that they replaced are gone, and the next owner makes the same ones from the same
// messages. Packages dir and bucket describe what else can be observed meanwhile, and what a former
// owner can do.
//
// # Encryption
//
// The bytes of an encrypted file differ each time it is written. That does not matter: the
// leftovers of a crash are not compared, but removed, or the new file is stored beside them; an
// entry has the hash of the finished file.
//
// # Repeats
//
// JetStream forgets an identity after a while, and then stores a repeat under another sequence.
// Each entry has the identities of its records, a fixed number of bytes for each, and an index over
// the entries of this incarnation of the stream answers whether a record was written. The index is
// a cache: it is compared with the log, entry by entry, whenever a partition is acquired, and
// differing parts are rebuilt. It therefore needs no write-ahead log.
//
// The guarantee does not hold if entries, or files that they name, are removed; on a file system
// that loses synced data or has no locks; or with two brokers whose streams were created in the
// same nanosecond.
package writer

// Package writer makes files, or rows of a database, of records.
//
// It consumes RECORDS (or PAGES or RESULTS), partition by partition, for every
// partition whose lease it holds, and writes what it reads into chunks: files of
// many records, one for each group (crawl, and where the path asks kind and day),
// encoded by a format.Format and stored by an output.Sink. What cannot be a
// record goes to DEAD. Every record that RECORDS holds is in committed output once,
// whatever is killed at any moment: a file counts when a commit entry names it.
//
// # The commit
//
// A partition has one open set at a time: the messages after the last commit.
// Its commit is four steps, and the third alone decides.
//
//  1. Records are appended to chunks under temporary names. A bad record is
//     published to DEAD, and acknowledged there, before the message after it is
//     looked at. A crash leaves temporary files, which the next owner removes;
//     it reads the same messages again, and JetStream knows the dead letters.
//  2. At the limit of records, bytes or age, or when the partition is abandoned,
//     each chunk is finished, synced, renamed to its final name, and its
//     directory synced. A crash leaves chunks under final names that no entry
//     names: the next owner removes them, and makes them again.
//  3. One entry that names the chunks, and the last sequence, is written to the
//     log: a temporary file, synced, renamed, its directory synced. Before the
//     rename nothing was committed, and a crash costs what it costs in step 2.
//     After it all was: the next owner starts behind the last sequence. There
//     is no moment between, because a rename is atomic, and the chunks it makes
//     count were durable before.
//  4. The last message is acknowledged, which acknowledges all before it. A
//     crash before costs nothing but history kept longer: an owner starts where
//     the log ends, not where the server believes it to be.
//
// A failure is treated as a crash: after any error the open set is dropped, the
// partition waits, and starts again from what the log says. It does not guess
// whether the entry that failed is there. Meanwhile the stream holds the rest.
//
// # Who writes
//
// Leases can overlap while an owner is frozen. So a directory lets one process at
// a time into a partition, with a lock that ends with its process: the next
// owner waits for it, and an owner that thaws finds the log as it left it. S3
// has no such lock: there, of those who saw the same end of the log, one alone
// can store the next entry, and in a database one alone can insert it. The steps
// above are the directory's; bucket.Sink and package rows have what is different,
// and why it comes to the same.
//
// # Names
//
// A chunk is named by partition, life of the stream, and the sequence of the
// first message of its commit. A crash makes the same name again from the same
// sequence; nothing that was committed is written again. A stream made again
// numbers other messages alike: its creation time is in the name. A stream
// that lost its tail (power loss) numbers new messages alike under the same
// creation time: what is read again then goes under the next life number.
//
// # Objects
//
// Where each record is a file, at a path that it says itself, step 2 puts all
// objects of the set in place, over what is there, before the entry. They are no
// leftovers after a crash, and are not removed: what they replaced is gone,
// and the next owner makes the same ones of the same messages. Packages dir and
// bucket have what else can be seen meanwhile, and what a former owner can do.
//
// # Encryption
//
// The bytes of an encrypted file are others each time it is made. That is no
// matter: nothing is compared with what a crash left, but removed, or stored
// beside it; an entry has the hash of what was finished.
//
// # Repeats
//
// JetStream forgets an identity after a while, and then stores a repeat under
// another sequence. Each entry has the identities of its records, as many bytes
// as the records are many, and an index over the entries of this life of the
// stream answers whether one was written. The index is a cache: it is compared
// with the log, entry by entry, whenever a partition is taken, and what differs
// is built again. It has no write-ahead log for that reason.
//
// What breaks the guarantee: removing entries from the log, or files that they
// name; a file system that loses synced data, or knows no locks; two brokers
// whose streams were created in the same nanosecond.
package writer

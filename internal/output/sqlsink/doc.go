// Package sqlsink is the common part of databases as output destinations: records become rows of
// tables, and the log's entries do too. Packages sqlite and postgres use it.
//
// # The tables
//
// pages has the latest record of each page, and records the latest of each record of a rule.
// sources has the times at which each host was seen. events states for every record, or for every
// request, that it was committed, exactly once; its rows stay. commits is the log. feeds numbers
// the partitions of each stream incarnation, in which identities are unique.
//
// # Items
//
// An item is a page, a record with a key, or a position on a page. An item is gone if the last
// visit of its page does not find it and no other page has it (visits.go). Each event of an item is
// compared with the previous one (views.go): the item is new, changed, the same or gone. Package
// items reads files into a temporary SQLite file, so the same definition holds for them.
//
// # Indexes
//
// The views read JSON: a condition on a field of 200,000 records takes some 3 s in SQLite and 0.2 s
// in PostgreSQL. So up to four numeric fields of a kind have an index on the expression that the
// view uses. With it the condition takes 1 ms and 20 to 50 ms, for about 8 µs per record and index
// in SQLite. Other ways were slower: one field of 200,000 rows takes 0.6 s as text JSON, 0.3 s as
// JSONB and 0.2 s as a column of the same row. The index is part of the database: other programs
// use it too, the text stays readable, and columns and views that a user adds are not touched.
// Events have indexes by item, URL and run: among a million events, the history of an item takes 1
// to 5 ms. The planner of SQLite is given statistics (sqlite_stat1), without which it reads all
// records of a kind to find a key.
//
// # The commit
//
// A commit has fewer steps than in package writer.
//
//  1. Records are decoded into rows in memory. A crash leaves nothing.
//  2. Finishing a chunk changes nothing: its rows are complete.
//  3. One transaction inserts the entry first, then the events and the rows, and ends. Its end
//     is the commit. It is atomic, and durable before it is reported, so a crash after it loses
//     nothing.
//  4. The last message is acknowledged, as in all sinks.
//
// So nothing has to be removed after a crash. An attempt whose response was lost needs no special
// treatment: the partition continues from the end of the log.
//
// # Concurrent owners
//
// No lock ends with its process here. An owner continues from the end of the log, so its next entry
// is named after the first message that follows, and the name is the primary key of the log. Of the
// owners that saw the same end of the log, one gets the key: the transaction of the other waits
// until the first has ended, and fails with output.ErrExists if that was committed. The same holds
// for an attempt that the server still executes after its owner has abandoned it, and for streams
// that were created in the same second. An owner that fails this way reads the log again, which
// shows its stream's commits and the next free name.
//
// The identity of an event is unique in its partition and stream incarnation. The names of entries
// can differ if messages were purged by hand or the stream lost its tail while an owner was frozen.
// Even then no record is in two commits: the database rejects the second commit as a whole.
//
// # The latest record
//
// A row of pages or records is replaced by a record that was fetched later, or at the same moment
// and in no earlier round. So records that are read again, from a re-created stream or by another
// writer, never restore an older state. Events list them nevertheless.
package sqlsink

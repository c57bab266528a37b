// Package sqlsink is what databases share as places for output: records are rows of
// their tables, and the entry of the log is one too. Packages sqlite and postgres
// are such databases.
//
// # The tables
//
// pages has the latest record of each page, records that of each record of a
// rule, sources when each host was seen. events says of every record, or of every
// request, that it was committed, once; its rows stay. commits is the log, and
// feeds numbers the partitions of each life of a stream, which is what an
// identity is unique in.
//
// # Items
//
// An item is a page, a record with a key, or a place on a page. An item is gone if the last visit of its page does
// not find it and no other page has it (visits.go). Each event of an item is compared with the one before (views.go):
// the item is new, changed, the same or gone. Package items reads files into a temporary file of SQLite, so the same
// definition holds for them.
//
// # Indexes
//
// The views read JSON: a condition on a field of 200,000 records takes some 3 s in SQLite and 0.2 s in PostgreSQL.
// So each number of a kind, four at most, has an index of the expression that its view has: 1 ms and 20 to 50 ms, for about 8 µs a
// record and index in SQLite. Other ways were slower: one field of 200,000 rows takes 0.6 s as text JSON, 0.3 s as
// JSONB and 0.2 s as a column of the same row. The index is part of the database: other programs use it too, the text
// stays readable, and a column or a view that a user adds is not touched. Events have indexes by item, URL and run: in
// a million of them the history of an item takes 1 to 5 ms. The planner of SQLite is given figures (sqlite_stat1),
// without which it reads all records of a kind to find a key.
//
// # The commit
//
// The steps of package writer are fewer here.
//
//  1. Records are read into rows, in memory. A crash leaves nothing.
//  2. Finishing a chunk changes nothing: its rows are whole.
//  3. One transaction takes the entry first, then the events and the rows, and
//     ends. Its end is the commit. Before it nothing is there, after it all is,
//     and there is no moment between: that is what a transaction is. The end is
//     durable before it is reported, so a crash after it costs nothing.
//  4. The last message is acknowledged, as everywhere.
//
// So there is nothing to remove after a crash, and an attempt whose answer was lost
// is looked up like any other: the partition starts again from what the log says.
//
// # Who writes
//
// There is no lock that ends with a process. An owner continues from where the log
// ends, so its next entry is named by the first message after that, and the name
// is the primary key of the log. Of owners who saw the same end of the log one
// can have the key: the transaction of the other waits until the first one
// has ended, and fails with output.ErrExists if it was committed. The same goes for
// an attempt that the server still works on when its owner has abandoned it, and
// for streams that were created in the same second. An owner that fails so reads the log
// again: it has what of this stream is committed, and the next free name.
//
// The identity of an event is unique in its partition and life of the stream. So
// even where the names differ, because messages were purged by hand or the
// stream lost its tail while an owner was frozen, no record is in two commits: the
// database refuses the second, whole.
//
// # The latest
//
// A row of pages or records is replaced by one that was fetched later, and by one
// of the same moment and no earlier round. So records that are read again, from a
// stream made again or by another writer, never go back to what was. Events say
// when they came all the same.
package sqlsink

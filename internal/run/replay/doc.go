// Package replay processes messages again that the streams of a crawl still hold: it parses stored
// pages, optionally with another spec, or writes stored records to another destination. It sends no
// request to any site.
//
// A replay does not change the crawl. It reads with consumers that end with the connection, so the
// janitor does not wait for it, and it takes no message from the workers of the crawl. The ordinary
// parser handles each page, in memory. The ordinary writer reads RECORDS of a scratch server inside
// this process. So parsing and committing have one implementation, with the same guarantees.
//
//	PAGES of the crawl ─► copier (parser) ─► RECORDS ─► writer ─► destination
//	                               └──── scratch server ────┘
//
// After a kill at any moment, the same command continues a replay. Its plan, made at the start, has
// the sequences of the stream to replay. Its position is in a file, which is written after the
// records are stored. Parsing a page again produces the same records in the same order, with the
// same identities, so no record is missing or repeated.
//
// The scratch server is bounded: the copier waits for the writer.
package replay

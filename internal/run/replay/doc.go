// Package replay processes the messages again that the streams of a crawl
// still hold: it parses stored pages, optionally with another spec, or writes stored
// records to another destination. It sends no request to any site.
//
// A replay does not change the crawl. It reads with consumers that end
// with the connection: the janitor does not wait for it, and no worker of the
// crawl loses a message to it. The ordinary parser handles each page, in memory. The ordinary writer
// reads RECORDS of a private server inside this process. So there is no second implementation of
// parsing and committing, and the same promises hold.
//
//	PAGES of the crawl ─► copier (parser) ─► RECORDS ─► writer ─► place
//	                                └── server at the side ──┘
//
// After a kill at any moment, the same command continues a replay.
// Its plan, made at the start, has the sequences of the stream to replay. Its
// position is in a file, which is written after the records are stored. A page that is
// parsed again makes the same records in the same order, with the same identities, so no record
// is missing or repeated.
//
// The private stream is bounded: the copier waits for the writer.
package replay

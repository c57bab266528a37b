// Package replay does again what stages did, over what the streams of a crawl
// still hold: it parses stored pages, perhaps by another spec, or writes stored
// records to another place. No request goes to any site.
//
// The crawl is not touched. What is read of it is read by consumers that end
// with the connection: the janitor waits for no replay, and no worker of the
// crawl loses a message to one. What is made goes to streams of a server at the
// side, inside this process and reachable from nowhere else, and the ordinary
// parser and the ordinary writer work over those. So there is no second way to
// parse or to commit, and what holds of theirs holds here.
//
//	PAGES of the crawl ─► feeder ─► PAGES ─► parser ─► RECORDS ─► writer ─► place
//	                                └────── server at the side ──────┘
//
// A replay that is killed at any moment is gone on with by the same command.
// Its plan, made at the start, says which sequences of the stream are replayed;
// how far it has come follows from the last message that the feeder stored, which
// has the sequence of its original in a header. The server refuses a message that
// does not follow that one, so none is left out and none comes twice. Beyond it
// stand the promises of the stages: a page that is parsed again makes records of
// the same identities, and the writer drops those.
//
// The streams at the side are bounded: the feeder waits for the parser, and the
// parser for the writer.
package replay

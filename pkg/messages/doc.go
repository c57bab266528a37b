// Package messages is the wire: the streams and subjects that the stages of a
// crawl talk over, the messages on them, and how they are encoded.
//
// Small messages are JSON, so that the nats command and a stage written in any
// language can read and write them. A page is a header and a raw body, so that
// no byte of a body is encoded twice. docs/reference/wire.md describes the same for
// readers who do not write Go.
//
// Every decoder validates: a message that it returns without an error can be
// acted on without looking at it again.
package messages

// Version is the schema version that messages carry in their "v" field. A
// decoder refuses any other: a stage must not guess at fields it does not know.
const Version = 1

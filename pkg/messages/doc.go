// Package messages defines the wire format: the streams and subjects that the stages of a crawl
// communicate over, the messages on them, and their encoding.
//
// Small messages are JSON, so that the nats command and stages in any language can read and write
// them. A page is a header and a raw body, so that no byte of a body is encoded twice.
// docs/reference/wire.md describes the same for readers who do not use Go.
//
// Every decoder validates: a message returned without an error needs no further checks.
package messages

// Version is the schema version in the "v" field of messages. A decoder refuses any other version:
// a stage must not guess at fields it does not know.
const Version = 1

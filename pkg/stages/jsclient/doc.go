// Package jsclient is what the NATS client library (github.com/nats-io/nats.go) does not do, or
// does not do as a pipeline needs it that may lose nothing. It knows nothing of crawling. Each
// file has one thing, says what the library does instead, and when the file can go:
//
//   - consumers: the list of all consumers of a stream, or an error. The library leaves out
//     those whose servers do not answer. It can go when ListConsumers returns an error then.
//   - kv_keys: reads keys of a bucket from its leader, with the right to STREAM.MSG.GET alone, and
//     swaps their values (compare-and-set), of deleted keys too. It can go when the library's Get can
//     be told to ask the leader.
//   - leader_read: reads messages from the leader of a stream. It can go when the library's GetMsg
//     can be told so.
//   - objects, objects_read: an object store whose Put is all or nothing, and whose reader
//     tells a damaged object at once. It can go when the library's Put sends no chunk again out
//     of order, and its Get fails on a chunk that is missing.
//   - pull: takes messages of a consumer, drops none when the caller stops, and notices that a
//     request is over whose bytes are used up exactly. It can go when the library's Fetch returns
//     what it has received after its context has ended, and the server ends no request silently.
//   - unavailable: which errors mean that a server is away, and any client asks again.
//
// Versions that this was seen with stand at each; the soak found most of them. README.md has
// the upstream issues, or their texts.
package jsclient

// Package jsclient has functions that the NATS client library (github.com/nats-io/nats.go) lacks, or
// implements without the guarantees that a lossless pipeline needs. It knows nothing about crawling. Each
// file replaces one function, documents the behaviour of the library, and when the file can be removed:
//
//   - consumers: the list of all consumers of a stream, or an error. The library omits consumers
//     whose servers do not answer. Remove it when ListConsumers returns an error instead.
//   - kv_keys: reads keys of a bucket from its leader, with only the right to STREAM.MSG.GET, and
//     swaps their values (compare-and-set), also of deleted keys. Remove it when the library's Get can
//     read from the leader.
//   - leader_read: reads messages from the leader of a stream. Remove it when the library's GetMsg
//     can do so.
//   - objects, objects_read: an object store whose Put is all or nothing, and whose reader
//     reports a damaged object at once. Remove it when the library's Put resends no chunk out
//     of order, and its Get fails on a missing chunk.
//   - pull: receives messages of a consumer, drops none when the caller stops, and notices the end of a
//     request whose bytes are used up exactly. Remove it when the library's Fetch returns
//     received messages after its context has ended, and the server ends no request silently.
//   - unavailable: which errors mean that a server is away, and a loop that retries until it is back.
//
// Each file names the versions with that behaviour; the soak found most of them. README.md has
// the upstream issues, or their texts.
package jsclient

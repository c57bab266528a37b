// Package output defines committed output: chunks of records, and the log that says which chunks
// count. A Sink is a destination for both: packages dir, bucket, sqlite and postgres implement it.
// Package format encodes records as the bytes of a chunk. Package writer has the protocol that
// makes every record appear exactly once.
//
// To add a destination, add a package beside those. openSink, OutputWriters and readLog
// (pkg/stages/writer/open_output.go) select it by --out.
package output

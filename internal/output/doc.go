// Package output is what is committed: chunks of records, and the log that says
// which of them count. A Sink is a place for both: packages dir, bucket, sqlite and
// postgres are such places, and package format is how records become the bytes of a
// chunk. The protocol that makes every record appear once is that of package
// writer.
//
// A new place is a package beside those; openSink, OutputWriters and readLog
// (pkg/stages/writer/open_output.go) choose it by --out.
package output

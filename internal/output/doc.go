// Package output is what is committed: chunks of records, and the log that says
// which of them count. A Sink is a place for both; the packages below are such
// places. The protocol that makes every record appear once is that of package
// writer.
package output

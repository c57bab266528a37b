// Package table keeps records in Pebble together with the index keys that are derived from them. No code writes an
// index key by hand: a record is loaded, changed and put back, and the table writes the record and the difference
// between the keys derived from it before and after. The package knows no NATS and no clock.
//
// A key begins with its partition (two bytes, big-endian) and a kind (one byte). Names in keys end with a zero byte,
// which no name contains; numbers are big-endian.
package table

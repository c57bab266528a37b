// Package warc writes WARC 1.1 files (ISO 28500:2017), and CDXJ indexes of them.
// It knows neither pages nor NATS: what is written of a page is package format's.
//
// The specification is at
// https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/;
// sections named in this package are of it.
package warc

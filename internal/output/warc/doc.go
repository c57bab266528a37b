// Package warc writes WARC 1.1 files (ISO 28500:2017) and CDXJ indexes of them. It knows neither
// pages nor NATS: package format decides which data of a page is written.
//
// The specification is at
// https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/. Section numbers
// in this package refer to it.
package warc

// Package mediatype determines the type of a body from its Content-Type and its bytes.
//
// Like browsers, it follows the MIME Sniffing standard of the WHATWG (mimesniff.spec.whatwg.org).
// The declared type counts, except for feeds sent as HTML, images of another format, binary data
// sent as text/plain by old Apache defaults, and bodies with no type. It goes beyond the standard
// where a browser would show garbage. A body with the signature of a binary format is not text.
// JSON sent as HTML or XML is JSON. An HTML page sent instead of JSON, an image or an archive is
// HTML. application/octet-stream counts as no type. As in browsers, HTML, XML and JSON sent as
// text/plain stay text. "X-Content-Type-Options: nosniff" keeps all declared types. If bytes and
// declaration differ, the Type has both.
//
// It reads at most the first 4 KiB of a body, and keeps no reference to it.
package mediatype

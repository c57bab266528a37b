// Package mediatype says what a body is: by its Content-Type, then by its bytes.
//
// It follows the MIME Sniffing standard of the WHATWG (mimesniff.spec.whatwg.org)
// as browsers do: what is declared counts, but for feeds sent as HTML, images of
// another format, binary data sent as text/plain by old Apache defaults, and
// bodies with no type. It goes beyond the standard where a browser would show
// rubbish and a reader of documents knows better: a body that bears the signature
// of a binary format is not read as text, JSON sent as HTML or XML is JSON, an HTML
// page sent in place of JSON, an image or an archive is HTML, and
// application/octet-stream counts as no type. HTML, XML and JSON sent as text/plain
// stay text, as in browsers. "X-Content-Type-Options: nosniff" leaves all that is
// declared as it is. Where bytes and declaration differ, the Type has both.
//
// No more than the first 4 KiB of a body are looked at, and nothing is kept of it.
package mediatype

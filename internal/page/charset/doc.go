// Package charset converts the bytes of a document to UTF-8, using the encoding that a browser
// would. It also encodes the query of a link as a browser would in a document of that encoding.
//
// [Decode] reads an HTML page, [DecodeXML] an XML document and [DecodeText] other text. Each
// returns valid UTF-8 and the source encoding. Invalid bytes become U+FFFD, as many as in the
// Encoding standard. A document that is valid UTF-8 is returned unchanged and not copied. No input
// makes these functions fail or panic.
//
// The encoding of a page is determined as in HTML section 13.2.3.2: byte order mark, Content-Type,
// a meta element or XML declaration in the first 1,024 bytes. As in browsers, a declaration is
// believed even if the bytes contradict it. If nothing is declared, the standard leaves the choice
// to the reader. This package uses, in this order:
//
//   - UTF-16 without a byte order mark, if the text starts with only ASCII characters: every
//     second byte is zero, unlike in any other text;
//   - a meta element further down, where browsers restart when they reach it (section
//     13.2.3.4), if the text is not only ASCII;
//   - ISO-2022-JP, if the text is ASCII and has the escapes of that encoding;
//   - UTF-8, if nearly all of the bytes are: one broken character does not make the others
//     unreadable;
//   - a legacy encoding for which a sample of 4 KiB is strong evidence, by the library
//     wlynxg/chardet for non-Latin scripts, and by the language for windows-1250, 1254 and
//     1257;
//   - windows-1252, the default for most locales.
//
// Time is linear in the document. The text has at most three times its size, since U+FFFD has three
// bytes. If its size is not known in advance, growing it uses as much memory again.
//
// UTF-16 and East Asian encodings are from golang.org/x/text. They differ from the standard where a
// browser's user would not notice: in the number of U+FFFD for invalid bytes, in characters for
// private use, in the 18 characters that GB 18030 has moved since 2000, and in ISO-2022-JP that is
// truncated within a character. They never lose a byte that ends a tag or an attribute after a
// broken character.
//
// Section numbers are those of the HTML, Encoding, URL and MIME Sniffing standards (WHATWG), with
// the name of the standard if it is not HTML. The whole package is safe for concurrent use.
package charset

// Package charset turns the bytes of a document into UTF-8, reading them in the
// encoding that a browser would, and encodes the query of a link as a browser
// would in a document of that encoding.
//
// [Decode] takes an HTML page, [DecodeXML] an XML document and [DecodeText] text
// that is neither. Each gives valid UTF-8 and the encoding it was read in; bytes
// that mean nothing in it become U+FFFD, as many as the Encoding standard says.
// A document that is valid UTF-8 comes back as it is, not copied. No input makes
// them fail or panic.
//
// The encoding of a page is what HTML section 13.2.3.2 determines: byte order
// mark, Content-Type, a meta element or XML declaration in the first 1,024
// bytes. A declaration is believed even where the bytes speak against it, as
// browsers do. Where nothing is declared the standard leaves it to the reader:
//
//   - UTF-16 without a byte order mark, if it starts with nothing but ASCII
//     characters: every second byte is zero, which no other text is like;
//   - a meta element further down, where browsers start over when they come to
//     it (section 13.2.3.4), if there is more than ASCII to read;
//   - ISO-2022-JP, if all is ASCII and it has the escapes of that encoding;
//   - UTF-8, if nearly all of the bytes are: one broken character does not make
//     the others unreadable;
//   - a legacy encoding for which a sample of 4 KiB is strong evidence, by the
//     library wlynxg/chardet for other scripts than Latin, and by the language for
//     windows-1250, 1254 and 1257;
//   - windows-1252, the default for most locales.
//
// Time is linear in the document. The text has at most three times its size, as
// U+FFFD has three bytes, and where that is not known before, as much again is
// used while it grows.
//
// UTF-16 and East Asian encodings are those of golang.org/x/text, which differ from the
// standard where a browser's user would not see it: in how many U+FFFD stand for
// bytes that are no character, in characters for private use, in the 18
// characters that GB 18030 has moved since 2000, and in ISO-2022-JP that is cut
// in the middle of a character. No byte that ends a tag or an attribute is lost
// behind a broken character.
//
// Section numbers are those of the HTML, Encoding, URL and MIME Sniffing
// standards (WHATWG) and are given with the name of the standard where it is not
// HTML. All of the package is safe for concurrent use.
package charset

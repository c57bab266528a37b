package httpclient

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
	brotli "github.com/molecule-man/go-brrr"

	"seine/pkg/messages"
)

// hostileLengths lie about the length of a body, or send one without end.
var hostileLengths = []hostile{
	{name: "longer than promised", serve: holds(okHead + twoBytes + "and more"), want: messages.OK, text: "ok"},
	{name: "length of letters", serve: holds(okHead + "Content-Length: two\r\n\r\nok"), want: messages.ProtocolError, text: `bad Content-Length "two"`},
	{name: "length in hexadecimal", serve: holds(okHead + "Content-Length: 0x2\r\n\r\nok"), want: messages.ProtocolError, text: "bad Content-Length"},
	{name: "length with a sign", serve: holds(okHead + "Content-Length: +2\r\n\r\nok"), want: messages.ProtocolError, text: "bad Content-Length"},
	{name: "negative length", serve: holds(okHead + "Content-Length: -1\r\n\r\nok"), want: messages.ProtocolError, text: `bad Content-Length "-1"`},
	{name: "length over 64 bits", serve: holds(okHead + "Content-Length: 99999999999999999999\r\n\r\nok"), want: messages.ProtocolError, text: "bad Content-Length"},
	{name: "empty length", serve: holds(okHead + "Content-Length:\r\n\r\nok"), want: messages.ProtocolError, text: "Content-Length"},
	{name: "two lengths", serve: holds(okHead + "Content-Length: 1\r\n" + twoBytes), want: messages.ProtocolError, text: "multiple Content-Length"},
	{name: "two lengths in one field", serve: holds(okHead + "Content-Length: 2, 1\r\n\r\nok"), want: messages.ProtocolError, text: "bad Content-Length"},
	{name: "the same length twice in one field", serve: holds(okHead + "Content-Length: 2, 2\r\n\r\nok"), want: messages.OK, text: "ok"},
	{name: "the same length three times", serve: holds(okHead + "Content-Length: 2,2\r\nContent-Length: 2\r\n\r\nok"), want: messages.OK, text: "ok"},
	{name: "lengths that differ in two fields", serve: holds(okHead + "Content-Length: 2, 2\r\nContent-Length: 1\r\n\r\nok"), want: messages.ProtocolError, text: "multiple Content-Length"},
	{name: "the same length twice", serve: holds(okHead + "Content-Length: 2\r\n" + twoBytes), want: messages.OK, text: "ok"},
	// RFC 9112 6.3: the chunks count.
	{name: "length and chunks", serve: holds(okHead + "Content-Length: 100\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"), want: messages.OK, text: "ok"},
	// RFC 9112 7 no longer has "identity", and Go refuses it; browsers and curl ignore it.
	{name: "identity, with a length", serve: holds(okHead + "Transfer-Encoding: identity\r\n" + twoBytes), want: messages.OK, text: "ok"},
	{name: "identity, to the end", serve: says(okHead + "Transfer-Encoding: identity\r\n\r\nok"), want: messages.OK, text: "ok"},
	{name: "unknown transfer coding", serve: holds(okHead + "Transfer-Encoding: gzip, chunked\r\n\r\n"), want: messages.ProtocolError, text: "unsupported transfer encoding"},
	{name: "chunked twice", serve: holds(okHead + "Transfer-Encoding: chunked\r\nTransfer-Encoding: Chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"), want: messages.OK, text: "ok"},
	{name: "chunked twice in one field", serve: holds(okHead + "Transfer-Encoding: chunked, chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"), want: messages.OK, text: "ok"},
	{name: "chunked twice beside the name of a length", serve: holds(okHead + "Transfer-Encoding: chunked\r\nAccess-Control-Expose-Headers: Content-Length\r\nNo-Field Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"), want: messages.OK, text: "ok"},
	{name: "chunked twice beside a length", serve: holds(okHead + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n" + twoBytes), want: messages.ProtocolError, text: "too many transfer encodings"},
	{name: "chunked beside another coding", serve: holds(okHead + "Transfer-Encoding: chunked\r\nTransfer-Encoding: gzip\r\n\r\n"), want: messages.ProtocolError, text: "too many transfer encodings"},
	{name: "promise of 10 GB", serve: holds(okHead + "Content-Length: 10000000000\r\n\r\nok"), bulk: true, want: messages.TooLarge, text: "over the limit of 2MiB"},
	{name: "promise of all that is allowed", serve: says(okHead + fmt.Sprintf("Content-Length: %d\r\n\r\nok", hostileBody)), bulk: true, want: messages.ProtocolError, text: "the body was cut short"},
	{name: "body without end", serve: floods(okHead+"\r\n", "x"), bulk: true, want: messages.TooLarge, text: "over the limit of 2MiB"},
	{name: "error page without end", serve: floods("HTTP/1.1 404 Not Found\r\n\r\n", "x"), bulk: true, want: messages.Gone, text: "404 Not Found"},
	{name: "error page that stalls", serve: holds("HTTP/1.1 500 Oops\r\nContent-Length: 100\r\n\r\n"), want: messages.ServerError, text: "500 Internal Server Error"},
	{name: "body without a type and without end", serve: floods("HTTP/1.1 200 OK\r\n\r\n", "\x00\x01\x02"), bulk: true, want: messages.UnsupportedType, text: "application/octet-stream"},
	{name: "no content, with a body", serve: holds("HTTP/1.1 204 No Content\r\nContent-Type: text/html\r\n" + twoBytes), want: messages.OK},
	{name: "not modified, with a body", serve: holds("HTTP/1.1 304 Not Modified\r\n" + twoBytes), set: conditional, want: messages.NotModified},
	{name: "body stalls", serve: holds(okHead + "Content-Length: 9\r\n\r\nshort"), set: shortStall, want: messages.Stalled, text: "the body stopped coming for 200ms"},
	{name: "body of no byte stalls", serve: holds(okHead + "\r\n"), set: shortStall, want: messages.Stalled, text: "the body stopped coming for 200ms"},
	{name: "body byte by byte", serve: drips(okHead+"\r\n", "slow "), set: shortTotal, want: messages.Timeout, text: "not done within 200ms"},
}

const chunked = okHead + "Transfer-Encoding: chunked\r\n\r\n"

// hostileChunks send an invalid chunked coding.
var hostileChunks = []hostile{
	{name: "chunk size of letters", serve: holds(chunked + "zz\r\nok\r\n"), want: messages.ProtocolError, text: "invalid byte in chunk length"},
	{name: "negative chunk size", serve: holds(chunked + "-2\r\nok\r\n"), want: messages.ProtocolError, text: "invalid byte in chunk length"},
	{name: "empty chunk size", serve: holds(chunked + "\r\nok\r\n"), want: messages.ProtocolError, text: "chunk length"},
	{name: "largest chunk size, short", serve: says(chunked + "ffffffffffffffff\r\nok\r\n"), want: messages.ProtocolError, text: "the body was cut short"},
	{name: "largest chunk size, without end", serve: floods(chunked+"ffffffffffffffff\r\n", "x"), bulk: true, want: messages.TooLarge, text: "over the limit of 2MiB"},
	{name: "chunk size over 64 bits", serve: holds(chunked + "10000000000000000\r\nok\r\n"), want: messages.ProtocolError, text: "chunk length too large"},
	{name: "chunk longer than its size", serve: holds(chunked + "2\r\nokay\r\n0\r\n\r\n"), want: messages.ProtocolError, text: "malformed chunked encoding"},
	{name: "chunk line ends in LF alone", serve: holds(chunked + "2\nok\n0\n\n"), want: messages.ProtocolError, text: "bare LF"},
	{name: "no last chunk", serve: says(chunked + "2\r\nok\r\n"), want: messages.ProtocolError, text: "the body was cut short"},
	{name: "closed in a chunk", serve: says(chunked + "9\r\nshort"), want: messages.ProtocolError, text: "the body was cut short"},
	{name: "closed in a chunk size", serve: says(chunked + "2\r\nok\r\n1"), want: messages.ProtocolError, text: "the body was cut short"},
	{name: "last chunk stalls", serve: holds(chunked + "2\r\nok\r\n"), set: shortStall, want: messages.Stalled, text: "the body stopped coming"},
	{name: "chunk extension without end", serve: floods(chunked+"2;", "x"), bulk: true, want: messages.ProtocolError, text: "line too long"},
	{name: "chunks of extensions without end", serve: floods(chunked, "1;"+strings.Repeat("x", 1000)+"\r\nx\r\n"), bulk: true, want: messages.ProtocolError, text: "too much non-data"},
	{name: "trailer without end", serve: floods(chunked+"2\r\nok\r\n0\r\nX-Long: ", "x"), bulk: true, want: messages.ProtocolError, text: "suspiciously long trailer"},
	{name: "trailers without end", serve: floods(chunked+"2\r\nok\r\n0\r\n", "X-Many: x\r\n"), bulk: true, want: messages.ProtocolError, text: "suspiciously long trailer"},
	{name: "trailer without colon", serve: holds(chunked + "2\r\nok\r\n0\r\nno colon\r\n\r\n"), want: messages.ProtocolError, text: "missing colon"},
	{name: "closed before the trailer", serve: says(chunked + "2\r\nok\r\n0\r\n"), want: messages.ProtocolError, text: "unexpected EOF reading trailer"},
	{name: "small chunks without end", serve: floods(chunked, "10\r\n0123456789abcdef\r\n"), bulk: true, want: messages.TooLarge, text: "over the limit of 2MiB"},
}

// bombSize is the decompressed size of each bomb.
const bombSize = 2 * hostileBody

// bombs are compressed bodies by coding. Several codings are nested.
var bombs = sync.OnceValue(func() map[string]string {
	made := map[string]string{}
	zeros := make([]byte, bombSize)
	for _, name := range []string{"gzip", "deflate", "br", "zstd"} {
		made[name] = encoded(name, zeros)
	}
	made["gzip, gzip"] = encoded("gzip", []byte(made["gzip"]))
	made["gzip, br"] = encoded("br", []byte(made["gzip"]))
	return made
})

func encoded(name string, text []byte) string {
	var b bytes.Buffer
	var z io.WriteCloser
	switch name {
	case "gzip":
		z = gzip.NewWriter(&b)
	case "deflate":
		z = zlib.NewWriter(&b)
	case "br":
		z, _ = brotli.NewWriter(&b, 2)
	case "zstd":
		z, _ = zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1))
	}
	_, _ = z.Write(text)
	_ = z.Close()
	return b.String()
}

// bomb sends a small body that decompresses to a large one.
func bomb(codings string) func(*peer) {
	return func(p *peer) {
		body := bombs()[codings]
		holds(fmt.Sprintf("%sContent-Encoding: %s\r\nContent-Length: %d\r\n\r\n%s", okHead, codings, len(body), body))(p)
	}
}

// coded sends body as encoded data.
func coded(codings, body string) func(*peer) {
	return holds(fmt.Sprintf("%sContent-Encoding: %s\r\nContent-Length: %d\r\n\r\n%s", okHead, codings, len(body), body))
}

func codedEndless(codings, body string) func(*peer) {
	return floods(okHead+"Content-Encoding: "+codings+"\r\n\r\n", body)
}

var zipped = encoded("gzip", []byte("the page"))

// Bodies of zstd, RFC 8878 3.1.1.
const (
	zstdMagic    = "\x28\xb5\x2f\xfd"
	zstdLastByte = "\x09\x00\x00x" // a raw block of one byte, the last one
)

// hostileCodings send bodies that decompress to too much, to nothing, or not at all.
var hostileCodings = []hostile{
	{name: "gzip bomb", serve: bomb("gzip"), bulk: true, want: messages.TooLarge, text: "the body"},
	{name: "deflate bomb", serve: bomb("deflate"), bulk: true, want: messages.TooLarge, text: "the body"},
	{name: "brotli bomb", serve: bomb("br"), bulk: true, want: messages.TooLarge, text: "the body"},
	{name: "zstd bomb", serve: bomb("zstd"), bulk: true, want: messages.TooLarge, text: "the body"},
	{name: "gzip bomb in gzip", serve: bomb("gzip, gzip"), bulk: true, want: messages.TooLarge, text: "the body"},
	{name: "gzip bomb in brotli", serve: bomb("gzip, br"), bulk: true, want: messages.TooLarge, text: "the body"},
	{name: "gzip cut short", serve: coded("gzip", zipped[:len(zipped)-9]), want: messages.BadEncoding, text: "not valid gzip"},
	{name: "gzip cut in its header", serve: coded("gzip", zipped[:5]), want: messages.BadEncoding, text: "not valid gzip"},
	{name: "gzip with another checksum", serve: coded("gzip", zipped[:len(zipped)-8]+"\x00\x00\x00\x00"+zipped[len(zipped)-4:]), want: messages.BadEncoding, text: "not valid gzip: gzip: invalid checksum"},
	{name: "gzip of garbage", serve: coded("gzip", "<html>not gzip</html>"), want: messages.BadEncoding, text: "not valid gzip: gzip: invalid header"},
	{name: "gzip and then garbage", serve: coded("gzip", zipped+"garbage that is no gzip"), want: messages.OK, text: "the page"},
	{name: "gzip and then a line end", serve: coded("gzip", zipped+"\n"), want: messages.OK, text: "the page"},
	{name: "gzip in two members", serve: coded("gzip", zipped+zipped), want: messages.OK, text: "the pagethe page"},
	{name: "gzip and then half a member", serve: coded("gzip", zipped+zipped[:15]), want: messages.BadEncoding, text: "not valid gzip"},
	{name: "gzip of nothing and then garbage", serve: coded("gzip", encoded("gzip", nil)+"garbage that is no gzip"), want: messages.OK},
	{name: "deflate and then garbage", serve: coded("deflate", encoded("deflate", []byte("the page"))+"garbage"), want: messages.OK, text: "the page"},
	{name: "brotli and then garbage", serve: coded("br", encoded("br", []byte("the page"))+"garbage"), want: messages.OK, text: "the page"},
	{name: "zstd and then garbage", serve: coded("zstd", encoded("zstd", []byte("the page"))+"garbage"), want: messages.BadEncoding, text: "not valid zstd"},
	{name: "gzip and then garbage without end", serve: floods(okHead+"Content-Encoding: gzip\r\n\r\n"+zipped, "garbage"), bulk: true, want: messages.OK, text: "the page"},
	{name: "gzip of no byte", serve: coded("gzip", ""), want: messages.OK},
	{name: "gzip that closes early", serve: says(fmt.Sprintf("%sContent-Encoding: gzip\r\nContent-Length: 100\r\n\r\n%s", okHead, zipped[:12])), want: messages.ProtocolError, text: "the body was cut short"},
	{name: "gzip that stalls", serve: holds(okHead + "Content-Encoding: gzip\r\n\r\n" + zipped[:12]), set: shortStall, want: messages.Stalled, text: "the body stopped coming"},
	{name: "empty gzip members without end", serve: codedEndless("gzip", encoded("gzip", nil)), bulk: true, want: messages.TooLarge, text: "over the limit of 2MiB"},
	{name: "gzip with a name without end", serve: floods(okHead+"Content-Encoding: gzip\r\n\r\n\x1f\x8b\x08\x08\x00\x00\x00\x00\x00\xff", "x"), bulk: true, want: messages.BadEncoding, text: "not valid gzip"},
	{name: "deflate of garbage", serve: coded("deflate", "\xff\xff\xff"), want: messages.BadEncoding, text: "not valid deflate"},
	{name: "empty deflate blocks without end", serve: codedEndless("deflate", "\x00\x00\x00\xff\xff"), bulk: true, want: messages.TooLarge, text: "over the limit of 2MiB"},
	{name: "brotli of garbage", serve: coded("br", "\xff\xff\xff\xff"), want: messages.BadEncoding, text: "not valid br"},
	{name: "zstd of garbage", serve: coded("zstd", "<html>not zstd</html>"), want: messages.BadEncoding, text: "not valid zstd"},
	{name: "zstd with a window of 1 GiB", serve: coded("zstd", zstdMagic+"\x00\xa0"+zstdLastByte), bulk: true, want: messages.BadEncoding, text: "window size exceeded"},
	{name: "zstd promising an exabyte", serve: coded("zstd", zstdMagic+"\xe0\x00\x00\x00\x00\x00\x00\x00\x10"+zstdLastByte), bulk: true, want: messages.BadEncoding, text: "not valid zstd"},
	{name: "skipped zstd frames without end", serve: codedEndless("zstd", "\x50\x2a\x4d\x18\x00\x10\x00\x00"+strings.Repeat("x", 4096)), bulk: true, want: messages.TooLarge, text: "over the limit of 2MiB"},
	{name: "skipped zstd frame of 4 GiB", serve: floods(okHead+"Content-Encoding: zstd\r\n\r\n\x50\x2a\x4d\x18\xff\xff\xff\xff", "x"), bulk: true, want: messages.TooLarge, text: "over the limit of 2MiB"},
	{name: "unknown coding", serve: coded("compress", "x"), want: messages.BadEncoding, text: `"compress" is not one of gzip, deflate, br, zstd`},
	{name: "coding with a long name", serve: coded(strings.Repeat("x", 8000), "x"), want: messages.OK, text: "x"},
	{name: "five codings", serve: coded("gzip, gzip, gzip, gzip, gzip", zipped), want: messages.BadEncoding, text: "5 content encodings over one another"},
	{name: "five codings in fields of their own", serve: holds(okHead + strings.Repeat("Content-Encoding: br\r\n", 5) + twoBytes), want: messages.BadEncoding, text: "5 content encodings over one another"},
}

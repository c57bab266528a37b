package testweb

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"io"
	"net/http"
	"strconv"
)

// encodedPage is the page that is served compressed.
var encodedPage = specialPage("Encoded", "<p>This page came compressed.</p>\n"+string(filler[:4000]))

func sendEncoded(rw http.ResponseWriter, r *http.Request, coding string, body []byte) {
	rw.Header().Set("Content-Encoding", coding)
	send(rw, r, typeHTML, body)
}

// compress compresses the page with any of the standard writers.
func compress(open func(io.Writer) io.WriteCloser) []byte {
	var b bytes.Buffer
	z := open(&b)
	_, _ = z.Write(encodedPage) // a bytes.Buffer accepts everything
	_ = z.Close()
	return b.Bytes()
}

func gzipped() []byte {
	return compress(func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) })
}

// specialGzip serves gzip, requested or not.
func (s specialAnswers) specialGzip(rw http.ResponseWriter, r *http.Request) {
	sendEncoded(rw, r, "gzip", gzipped())
}

// specialBrokenGzip serves gzip whose second half is corrupt.
func (s specialAnswers) specialBrokenGzip(rw http.ResponseWriter, r *http.Request) {
	body := gzipped()
	for i := len(body) / 2; i < len(body); i++ {
		body[i] ^= 0x5a
	}
	sendEncoded(rw, r, "gzip", body)
}

// specialDeflate serves the zlib format that RFC 9110 means by "deflate"; with ?raw=1 the raw
// DEFLATE that some servers send.
func (s specialAnswers) specialDeflate(rw http.ResponseWriter, r *http.Request) {
	open := func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) }
	if r.URL.Query().Has("raw") {
		open = newFlate
	}
	sendEncoded(rw, r, "deflate", compress(open))
}

func newFlate(w io.Writer) io.WriteCloser {
	z, err := flate.NewWriter(w, flate.BestCompression)
	if err != nil {
		panic(err) // only for a level out of range
	}
	return z
}

// bombBlock is the megabyte that specialBomb repeats.
var bombBlock = bytes.Repeat([]byte(" "), 1<<20)

// specialBomb serves ?mb= (default 256) MiB of spaces in about a thousandth of that, as one gzip
// member. All blocks after the first have the same bytes, because each is flushed to a byte
// boundary and refers back only to spaces. So the bomb costs the server one block and the checksum.
func (s specialAnswers) specialBomb(rw http.ResponseWriter, r *http.Request) {
	mb := max(1, param(r, "mb", 256, 4095)) // gzip stores the size in 32 bits
	first, more, last := bombParts()
	rw.Header()["Content-Type"] = typeHTML
	rw.Header().Set("Content-Encoding", "gzip")
	rw.Header().Set("Content-Length", strconv.Itoa(len(first)+(mb-1)*len(more)+len(last)+8))
	rw.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return
	}
	sum := uint32(0)
	for n := range mb {
		part := more
		if n == 0 {
			part = first
		}
		if _, err := rw.Write(part); err != nil {
			return
		}
		sum = crc32.Update(sum, crc32.IEEETable, bombBlock)
	}
	trailer := binary.LittleEndian.AppendUint32(bytes.Clone(last), sum)
	_, _ = rw.Write(binary.LittleEndian.AppendUint32(trailer, uint32(mb<<20)))
}

// bombParts returns the gzip header with the first block, the bytes of any later block, and the end
// of the DEFLATE stream.
func bombParts() (first, more, last []byte) {
	var b bytes.Buffer
	b.Write([]byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255}) // RFC 1952: DEFLATE, no flags, no time, unknown system
	z, err := flate.NewWriter(&b, flate.BestCompression)
	if err != nil {
		panic(err) // only for a level out of range
	}
	block := func() []byte {
		_, _ = z.Write(bombBlock)
		_ = z.Flush()
		return bytes.Clone(b.Next(b.Len()))
	}
	first, more = block(), block()
	_ = z.Close()
	return first, more, b.Bytes()
}

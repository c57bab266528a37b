package httpclient

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"hash"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"seine/internal/base/contentcoding"
	"seine/internal/page/mediatype"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// wireReader reads a body from the connection, counts its bytes and enforces its limits. It keeps
// the first failure, however the decoders above report it.
type wireReader struct {
	x    *exchange
	src  io.Reader
	most int64
	n    int64
	err  *Failure
}

// summed computes the digest of a decoded body while it is read.
type summed struct {
	io.Reader
	sum hash.Hash
}

func (s summed) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	s.sum.Write(p[:n])
	return n, err
}

func (w *wireReader) Read(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	x := w.x
	x.watch.phase(time.Duration(x.c.cfg.StallTimeout), x.c.stalled)
	n, err := w.src.Read(p)
	w.n += int64(n)
	switch {
	case err != nil && err != io.EOF:
		w.err = failureOf(x.ctx, err, bodyFailure)
	case w.n > w.most:
		w.err = x.tooLarge(messages.DetailWire)
	case x.c.pace.bandwidth != nil:
		x.watch.pause()
		if e := x.c.pace.received(x.ctx, n); e != nil {
			w.err = failureOf(x.ctx, e, bodyFailure)
		}
	}
	if w.err != nil {
		return n, w.err
	}
	return n, err
}

func (x *exchange) tooLarge(which messages.Detail) *Failure {
	return Failf(messages.TooLarge, "the body is over the limit of %s", crawlspec.Bytes(x.ask.MaxBody)).in(which)
}

// read reads the body into the reply.
func (x *exchange) read(resp *http.Response) *Failure {
	x.wire = wireReader{x: x, src: resp.Body, most: x.ask.MaxBody}
	names, err := contentcoding.Parse(resp.Header["Content-Encoding"])
	if err != nil {
		return Failf(messages.BadEncoding, "%v", err)
	}
	if f := x.refuse(resp); f != nil {
		return f
	}
	if x.ask.Robots {
		x.wire.most = 1 << 62 // cut, not refused: see setBody
	}
	sum := sha256.New()
	defer func() { x.reply.Digest = messages.Digest(sum.Sum(nil)) }()
	if len(names) == 0 && resp.ContentLength >= 0 && resp.ContentLength <= x.c.memory.share {
		return x.readExactly(summed{x.hidden.reader(&x.wire), sum}, int(resp.ContentLength))
	}
	if len(names) == 0 {
		return x.readAll(summed{x.hidden.reader(&x.wire), sum}, resp.ContentLength)
	}
	if (x.ask.Archive || x.ask.Object != "") && !x.ask.Robots && !x.hidden.active() {
		return largeBody{x}.storeRaw(names, resp.ContentLength, sum)
	}
	z := contentcoding.NewReader(&x.wire, names, x.c.cfg.MaxRatio)
	defer func() { _ = z.Close() }()
	x.decoded = true
	f := x.readAll(summed{x.hidden.reader(z), sum}, -1)
	if f == nil {
		x.discard(resp) // data after the last decoded byte
	}
	return f
}

// refuse returns a failure if the header alone shows that the body need not be read.
func (x *exchange) refuse(resp *http.Response) *Failure {
	if x.ask.Robots {
		return nil
	}
	t := mediatype.Declared(x.reply.ContentType)
	if !mediatype.Undefined(t) && !x.keeps(t) && resp.ContentLength != 0 {
		return x.unsupported(t)
	}
	if resp.ContentLength > x.ask.MaxBody {
		return x.tooLarge(messages.DetailWire)
	}
	return nil
}

// keeps reports whether a type is accepted by the spec or by Config, or is that of a named sitemap
// or feed.
func (x *exchange) keeps(t string) bool {
	return x.profile.accepts.keeps(t) || x.ask.Named && crawlspec.InMediaRanges(crawlspec.NamedMedia, t)
}

func (x *exchange) unsupported(t string) *Failure {
	return Failf(messages.UnsupportedType, "content type %q is not kept", t)
}

// readExactly reads a body whose length is known and small, without a copy.
func (x *exchange) readExactly(src io.Reader, n int) *Failure {
	data := make([]byte, n)
	if got, err := io.ReadFull(src, data); err != nil {
		exchangeArchive{x}.came(data[:got])
		if x.wire.err == nil {
			x.wire.err = failureOf(x.ctx, io.ErrUnexpectedEOF, bodyFailure)
		}
		return x.wire.err
	}
	if x.reply.Protocol == "HTTP/2.0" && n > 0 {
		_, _ = x.wire.src.Read(make([]byte, 1)) // the end of the stream has its own frame
	}
	if f := x.sniff(data); f != nil {
		return f
	}
	x.setBody(data)
	return nil
}

// setBody makes data the body.
func (x *exchange) setBody(data []byte) {
	data = x.cut(data)
	x.reply.Body = Body{Data: data, Size: int64(len(data))}
}

// cut truncates a robots.txt to its limit.
func (x *exchange) cut(body []byte) []byte {
	if x.ask.Robots && int64(len(body)) > x.ask.MaxBody {
		x.reply.Truncated = messages.TruncatedLength
		return body[:x.ask.MaxBody]
	}
	return body
}

// sniffed is how much of a body http.DetectContentType examines.
const sniffed = 512

// sniff detects the type of a body whose header names none by its beginning. It keeps the
// parameters in the header, such as the charset.
func (x *exchange) sniff(body []byte) *Failure {
	declared := x.reply.ContentType
	if !mediatype.Undefined(mediatype.Declared(declared)) || x.ask.Robots || len(body) == 0 {
		return nil
	}
	// Without its charset, which the standard library only guesses.
	t := mediatype.Declared(http.DetectContentType(body))
	if !x.keeps(t) {
		return x.unsupported(t)
	}
	if i := strings.IndexByte(declared, ';'); i >= 0 {
		t += declared[i:]
	}
	x.reply.ContentType = t
	return nil
}

// firstBuffer is the size of the first buffer for a body that is large, or whose length is unknown.
// All are of this size: there is no reserved memory for larger ones.
const firstBuffer = 32 << 10

var buffers = sync.Pool{New: func() any { b := make([]byte, 0, firstBuffer); return &b }}

// readAll reads src to its end. The buffer grows with the received data, never by the length that a
// header claims, and a large body is not held in memory.
func (x *exchange) readAll(src io.Reader, length int64) *Failure {
	pooled := buffers.Get().(*[]byte)
	defer buffers.Put(pooled)
	buf := (*pooled)[:0]
	looked := false
	for {
		if len(buf) == cap(buf) {
			if int64(len(buf)) >= streamFrom && x.ask.Object != "" {
				return largeBody{x}.stream(buf, src)
			}
			var f *Failure
			if buf, f = x.grow(buf, length); f != nil {
				return f
			}
		}
		n, err := src.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if !looked && (len(buf) >= sniffed || err != nil) {
			looked = true
			if f := x.sniff(buf); f != nil && (err == nil || err == io.EOF) {
				return f
			}
		}
		if int64(len(buf)) > x.ask.MaxBody {
			if !x.ask.Robots {
				exchangeArchive{x}.came(buf[:x.ask.MaxBody])
				return x.tooLarge(messages.DetailDecoded)
			}
			err = io.EOF
		}
		if err == io.EOF {
			x.setBody(rightSize(buf))
			return nil
		}
		if err != nil {
			exchangeArchive{x}.came(buf)
			return x.classifyReadError(err)
		}
	}
}

// classifyReadError prefers the failure on the wire to the error of a decoder.
func (x *exchange) classifyReadError(err error) *Failure {
	_, invalid := errors.AsType[*contentcoding.InvalidError](err)
	_, bomb := errors.AsType[*contentcoding.RatioError](err)
	switch {
	case x.wire.err != nil:
		return x.wire.err
	case bomb:
		return Failf(messages.TooLarge, "%v", err).in(messages.DetailRatio)
	case invalid:
		return Failf(messages.BadEncoding, "%v", err)
	}
	return failureOf(x.ctx, err, bodyFailure)
}

// grow doubles the buffer, after reserving the memory. Once the memory for a whole body of known
// length is reserved, the buffer grows to that length.
func (x *exchange) grow(buf []byte, length int64) ([]byte, *Failure) {
	size := int64(2 * cap(buf))
	most := x.ask.MaxBody
	if length >= 0 {
		most = min(length, most)
	}
	if f := x.reserveMemory(size, most); f != nil {
		return nil, f
	}
	if length >= 0 && x.reply.loan.extra > 0 {
		size = max(size, min(length, x.reply.loan.extra)+1)
	}
	// One byte over the limit, to detect a body that exceeds it.
	grown := make([]byte, len(buf), min(size, x.ask.MaxBody+1))
	copy(grown, buf)
	return grown, nil
}

// reserveMemory reserves size bytes for a body of at most most bytes.
func (x *exchange) reserveMemory(size, most int64) *Failure {
	if x.reply.loan.covers(size) {
		return nil
	}
	if x.ask.Object != "" {
		most = min(most, streamMemory)
	}
	x.watch.suspend()
	err := x.reply.loan.extend(x.ctx, most)
	x.watch.resume()
	if err != nil {
		return failureOf(x.ctx, err, bodyFailure)
	}
	return nil
}

// rightSize returns the body in memory of its exact size.
func rightSize(buf []byte) []byte {
	if cap(buf) > firstBuffer && len(buf) >= cap(buf)-cap(buf)/4 {
		return buf
	}
	return bytes.Clone(buf)
}

// Limits of reading the rest of a body only to reuse its connection.
const (
	drainBytes = 16 << 10
	drainTime  = time.Second
)

var errNotDrained = Failf(messages.Stalled, "the rest of the body did not come")

// discard reads a small rest of a body so that its connection can be reused. A larger rest is not
// worth it, and closing the body closes the connection.
func (x *exchange) discard(resp *http.Response) {
	if resp.ContentLength > drainBytes || resp.StatusCode == http.StatusSwitchingProtocols {
		return // a connection with another protocol may never end
	}
	x.watch.phase(drainTime, errNotDrained)
	n, _ := io.CopyN(io.Discard, resp.Body, drainBytes) // an error only affects the connection
	x.wire.n += n
}

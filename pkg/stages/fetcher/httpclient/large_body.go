package httpclient

import (
	"hash"
	"io"
	"strings"

	"seine/internal/base/contentcoding"
	"seine/pkg/messages"
)

// streamFrom is the size from which a body is no longer held in memory.
const streamFrom = 2 << 20

// stream takes a body of which buf has come.
func (x *exchange) stream(buf []byte, src io.Reader) *Failure {
	up := newLargeBodyWriter(x.ctx, x.c.bodies, x.ask.Object)
	if !x.ask.Archive {
		up = up.compressed()
	}
	if f := x.copy(up, buf, src); f != nil {
		up.abort(f)
		return f
	}
	return x.stored(up)
}

// copy writes what is in buf, and then src by way of buf.
func (x *exchange) copy(up *largeBodyWriter, buf []byte, src io.Reader) *Failure {
	for {
		x.watch.pause()
		if _, err := up.Write(buf); err != nil {
			return x.storeFailed(err)
		}
		if up.n > x.ask.MaxBody {
			return x.tooLarge(messages.DetailDecoded)
		}
		n, err := src.Read(buf[:cap(buf)])
		buf = buf[:n]
		if err == io.EOF && n == 0 {
			return nil
		}
		if err != nil && err != io.EOF {
			return x.classifyReadError(err)
		}
	}
}

// stored waits until all of a body is where it will be read from.
func (x *exchange) stored(up *largeBodyWriter) *Failure {
	x.watch.pause()
	b, err := up.commit()
	if err != nil {
		return x.storeFailed(err)
	}
	x.reply.Body = b
	return nil
}

// storeFailed ends an exchange whose body could not be stored. That is not the host's
// doing, so it makes no result.
func (x *exchange) storeFailed(err error) *Failure {
	if x.ctx.Err() == nil {
		x.err = err
	}
	return bodyFailure(x.ctx, err)
}

// streamMemory is what a body takes that is on its way to where large ones are: two
// buffers, the compressor, and what is not yet acknowledged.
const streamMemory = 8 << 20

// storeRaw keeps a body as received, and reads it decoded for its digest and its
// limits.
func (x *exchange) storeRaw(names []string, sum hash.Hash) *Failure {
	up := newLargeBodyWriter(x.ctx, x.c.bodies, x.ask.Object)
	src := io.TeeReader(&x.wire, writer(func(p []byte) (int, error) {
		if f := x.reserveMemory(up.n+int64(len(p)), x.ask.MaxBody); f != nil {
			return 0, f
		}
		x.watch.pause()
		n, err := up.Write(p)
		if err != nil {
			return n, x.storeFailed(err)
		}
		return n, nil
	}))
	z := contentcoding.NewReader(src, names, x.c.cfg.MaxRatio)
	defer func() { _ = z.Close() }()
	f := x.measureDecoded(summed{z, sum})
	if f == nil {
		if _, err := io.Copy(io.Discard, src); err != nil { // bytes behind the last that was decoded
			f = x.classifyReadError(err)
		}
	}
	if f != nil {
		up.abort(f)
		return f
	}
	size := x.reply.Body.Size
	f = x.stored(up)
	x.reply.Body.Encoding, x.reply.Body.Size = strings.Join(names, ", "), size
	return f
}

// measureDecoded reads src to its end and keeps nothing but its size.
func (x *exchange) measureDecoded(src io.Reader) *Failure {
	pooled := buffers.Get().(*[]byte)
	defer buffers.Put(pooled)
	buf, size, begun := (*pooled)[:cap(*pooled)], int64(0), 0
	for {
		n, err := src.Read(buf[begun:])
		size += int64(n)
		if begun += n; begun >= sniffed || err != nil {
			if f := x.sniff(buf[:begun]); f != nil && (err == nil || err == io.EOF) {
				return f
			}
			begun = 0
		}
		switch {
		case size > x.ask.MaxBody:
			return x.tooLarge(messages.DetailDecoded)
		case err == io.EOF:
			x.reply.Body.Size = size
			return nil
		case err != nil:
			return x.classifyReadError(err)
		}
	}
}

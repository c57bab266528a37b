package httpclient

import (
	"hash"
	"io"
	"strings"

	"seine/internal/base/contentcoding"
	"seine/pkg/messages"
)

// largeBody stores a body that is too large for a message.
type largeBody struct{ *exchange }

// streamFrom is the size from which a body is no longer held in memory.
const streamFrom = 2 << 20

// stream stores a body whose beginning is in buf.
func (l largeBody) stream(buf []byte, src io.Reader) *Failure {
	up := newLargeBodyWriter(l.ctx, l.c.bodies, l.ask.Object)
	if !l.ask.Archive {
		up = up.compressed()
	}
	if f := l.copy(up, buf, src); f != nil {
		up.abort(f)
		exchangeArchive{l.exchange}.came(up.held)
		return f
	}
	return l.stored(up)
}

// copy writes the data in buf, and then src through buf.
func (l largeBody) copy(up *largeBodyWriter, buf []byte, src io.Reader) *Failure {
	for {
		l.watch.pause()
		if _, err := up.Write(buf); err != nil {
			return l.storeFailed(err)
		}
		if up.n > l.ask.MaxBody {
			return l.tooLarge(messages.DetailDecoded)
		}
		n, err := src.Read(buf[:cap(buf)])
		buf = buf[:n]
		if err == io.EOF && n == 0 {
			return nil
		}
		if err != nil && err != io.EOF {
			return l.classifyReadError(err)
		}
	}
}

// stored waits until the whole body is stored.
func (l largeBody) stored(up *largeBodyWriter) *Failure {
	l.watch.pause()
	b, err := up.commit()
	if err != nil {
		return l.storeFailed(err)
	}
	l.reply.Body = b
	return nil
}

// storeFailed ends an exchange whose body could not be stored. The host is not at fault, so there
// is no result.
func (l largeBody) storeFailed(err error) *Failure {
	if l.ctx.Err() == nil {
		l.err = err
	}
	return failureOf(l.ctx, err, bodyFailure)
}

// streamMemory is the memory of a body while it is stored: two buffers, the compressor, and
// unacknowledged data.
const streamMemory = 8 << 20

// storeRaw keeps a body as received, which is smaller and costs no compression, and decodes it for
// its digest and its limits. length is the announced length, -1 if there is none.
func (l largeBody) storeRaw(names []string, length int64, sum hash.Hash) *Failure {
	up := newLargeBodyWriter(l.ctx, l.c.bodies, l.ask.Object)
	up.held = make([]byte, 0, max(0, min(length, l.c.memory.share, messages.InlineBody)))
	src := io.TeeReader(&l.wire, writer(func(p []byte) (int, error) {
		if f := l.reserveMemory(up.n+int64(len(p)), l.ask.MaxBody); f != nil {
			return 0, f
		}
		l.watch.pause()
		n, err := up.Write(p)
		if err != nil {
			return n, l.storeFailed(err)
		}
		return n, nil
	}))
	z := contentcoding.NewReader(src, names, l.c.cfg.MaxRatio)
	defer func() { _ = z.Close() }()
	f := l.readDecoded(summed{z, sum}, length)
	if f == nil || f.Class == messages.BadEncoding {
		if _, err := io.Copy(io.Discard, src); err != nil { // bytes after the last decoded one
			f = l.classifyReadError(err)
		}
	}
	if f != nil {
		up.abort(f)
		exchangeArchive{l.exchange}.came(up.held)
		return f
	}
	size, decoded := l.reply.Body.Size, l.reply.Body.decoded
	f = l.stored(up)
	l.reply.Body.Encoding, l.reply.Body.Size, l.reply.Body.decoded = strings.Join(names, ", "), size, decoded
	return f
}

// readDecoded reads src to its end and records its size. The decoded body stays in the reply, for a
// parser in the same process, as long as there is memory for it beside the received body, whose
// announced length is length.
func (l largeBody) readDecoded(src io.Reader, length int64) *Failure {
	buf := l.c.decoded.get()
	buf.held = l.ask.Object != ""
	defer func() {
		if l.reply.Body.decoded != buf {
			buf.release()
		}
	}()
	size, looked := int64(0), false
	for {
		if full := int64(cap(buf.data)); int64(len(buf.data)) == full {
			all := full * length / max(1, l.wire.n) * 9 / 8 // if the rest compresses as well as the part received so far
			want := max(2*full, min(all, 4*full))
			buf.makeRoom(min(want, l.reply.loan.room(l.wire.n+want)-l.wire.n))
		}
		begun := len(buf.data)
		n, err := src.Read(buf.data[begun:cap(buf.data)])
		buf.data, size = buf.data[:begun+n], size+int64(n)
		if !looked && (size >= sniffed || err != nil) {
			looked = true
			if f := l.sniff(buf.data); f != nil && (err == nil || err == io.EOF) {
				return f
			}
		}
		switch {
		case size > l.ask.MaxBody:
			return l.tooLarge(messages.DetailDecoded)
		case err == io.EOF:
			l.reply.Body.Size = size
			if buf.held {
				l.reply.Body.decoded = buf
			} else {
				l.reply.loan.shrink(int(l.wire.n))
			}
			return nil
		case err != nil:
			return l.classifyReadError(err)
		}
	}
}

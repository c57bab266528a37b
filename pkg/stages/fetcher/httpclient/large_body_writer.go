package httpclient

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"

	"seine/pkg/messages"
)

// largeBodyWriter receives a body in parts. It holds at most as much as a message may contain; a
// larger body goes to the store of large bodies.
type largeBodyWriter struct {
	bodies   LargeBodies
	ctx      context.Context
	name     string
	zip      *zstd.Encoder // nil if the body is stored as received
	encoding string
	n        int64          // bytes written, before compression
	held     []byte         // the whole body, or its beginning once there is a pipe
	pipe     *io.PipeWriter // to the store of large bodies, once it is needed
	done     chan struct{}  // closed when the store has everything, or err is set
	err      error
}

// streamWindow is the window of the compressor of a body that is not held in memory. It is small,
// since each such body has one.
const streamWindow = 512 << 10

// newLargeBodyWriter returns a writer for a body, which is stored under name if it is large. The
// caller must call commit or abort.
func newLargeBodyWriter(ctx context.Context, bodies LargeBodies, name string) *largeBodyWriter {
	return &largeBodyWriter{bodies: bodies, ctx: ctx, name: name}
}

// compressed makes the writer compress its data.
func (l *largeBodyWriter) compressed() *largeBodyWriter {
	z, err := zstd.NewWriter(writer(l.put), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(streamWindow),
		zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true))
	if err != nil {
		panic(err) // only for an option out of range
	}
	l.zip, l.encoding = z, messages.BodyZstd
	return l
}

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

func (l *largeBodyWriter) Write(p []byte) (int, error) {
	l.n += int64(len(p))
	if l.zip != nil {
		return l.zip.Write(p)
	}
	return l.put(p)
}

// put accepts data to store.
func (l *largeBodyWriter) put(p []byte) (int, error) {
	if l.pipe == nil && len(l.held)+len(p) <= messages.InlineBody {
		l.held = append(l.held, p...)
		return len(p), nil
	}
	if l.pipe == nil {
		l.open()
		if _, err := l.pipe.Write(l.held); err != nil {
			return 0, err
		}
		if l.held = append(l.held, p[:min(len(p), messages.InlineBody-len(l.held))]...); l.zip != nil {
			l.held = nil // its compressed beginning would be useless
		}
	}
	return l.pipe.Write(p)
}

func (l *largeBodyWriter) open() {
	r, w := io.Pipe()
	l.pipe, l.done = w, make(chan struct{})
	go func() {
		defer close(l.done)
		err := l.bodies.Put(l.ctx, l.name, r)
		if err != nil {
			err = fmt.Errorf("store body %s: %w", l.name, err)
		}
		_ = r.CloseWithError(cmp.Or(err, io.ErrClosedPipe)) // unblocks the writer
		l.err = err
	}()
}

// commit waits until everything is stored, and returns the body.
func (l *largeBodyWriter) commit() (Body, error) {
	if l.zip != nil {
		if err := l.zip.Close(); err != nil {
			l.abort(err)
			return Body{}, fmt.Errorf("compress body %s: %w", l.name, err)
		}
	}
	b := Body{Encoding: l.encoding, Size: l.n}
	if l.pipe == nil {
		b.Data = l.held
		return b, nil
	}
	b.Object = l.name
	_ = l.pipe.Close() // it returns no error
	<-l.done
	return b, l.err
}

// abort discards the body.
func (l *largeBodyWriter) abort(err error) {
	if l.pipe != nil {
		_ = l.pipe.CloseWithError(err)
		<-l.done
	}
}

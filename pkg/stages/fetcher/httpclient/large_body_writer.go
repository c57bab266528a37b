package httpclient

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"

	"seine/pkg/messages"
)

// largeBodyWriter takes a body as it comes. It holds no more of it than a message may
// carry: from there on all goes to where large bodies are.
type largeBodyWriter struct {
	bodies   LargeBodies
	ctx      context.Context
	name     string
	zip      *zstd.Encoder // nil if it is stored as it comes
	encoding string
	n        int64          // bytes written, before compression
	held     []byte         // all, or its beginning once there is a pipe
	pipe     *io.PipeWriter // to where large bodies are, once it is needed
	done     chan struct{}  // closed when it has all, or err
	err      error
}

// streamWindow is the window of the compressor of a body that is not held in
// memory: small, as there is one for each.
const streamWindow = 512 << 10

// newLargeBodyWriter starts to take a body, to be stored under a name if it is large. One of
// commit and abort must be called.
func newLargeBodyWriter(ctx context.Context, bodies LargeBodies, name string) *largeBodyWriter {
	return &largeBodyWriter{bodies: bodies, ctx: ctx, name: name}
}

// compressed has what is written compressed.
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

// put takes what is to be stored.
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
			l.held = nil // its beginning would be of no use
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
		_ = r.CloseWithError(cmp.Or(err, io.ErrClosedPipe)) // who still writes need not wait
		l.err = err
	}()
}

// commit waits until all is stored, and returns where.
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
	_ = l.pipe.Close() // it has no error
	<-l.done
	return b, l.err
}

// abort has nothing stored.
func (l *largeBodyWriter) abort(err error) {
	if l.pipe != nil {
		_ = l.pipe.CloseWithError(err)
		<-l.done
	}
}

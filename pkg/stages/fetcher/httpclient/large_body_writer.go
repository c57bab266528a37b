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
	n        int64 // bytes written, before compression
	held     []byte
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
func (u *largeBodyWriter) compressed() *largeBodyWriter {
	z, err := zstd.NewWriter(writer(u.put), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(streamWindow),
		zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true))
	if err != nil {
		panic(err) // only for an option out of range
	}
	u.zip, u.encoding = z, messages.BodyZstd
	return u
}

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

func (u *largeBodyWriter) Write(p []byte) (int, error) {
	u.n += int64(len(p))
	if u.zip != nil {
		return u.zip.Write(p)
	}
	return u.put(p)
}

// put takes what is to be stored.
func (u *largeBodyWriter) put(p []byte) (int, error) {
	if u.pipe == nil && len(u.held)+len(p) <= messages.InlineBody {
		u.held = append(u.held, p...)
		return len(p), nil
	}
	if u.pipe == nil {
		u.open()
		if _, err := u.pipe.Write(u.held); err != nil {
			return 0, err
		}
		u.held = nil
	}
	return u.pipe.Write(p)
}

func (u *largeBodyWriter) open() {
	r, w := io.Pipe()
	u.pipe, u.done = w, make(chan struct{})
	go func() {
		defer close(u.done)
		err := u.bodies.Put(u.ctx, u.name, r)
		if err != nil {
			err = fmt.Errorf("store body %s: %w", u.name, err)
		}
		_ = r.CloseWithError(cmp.Or(err, io.ErrClosedPipe)) // who still writes need not wait
		u.err = err
	}()
}

// commit waits until all is stored, and returns where.
func (u *largeBodyWriter) commit() (Body, error) {
	if u.zip != nil {
		if err := u.zip.Close(); err != nil {
			u.abort(err)
			return Body{}, fmt.Errorf("compress body %s: %w", u.name, err)
		}
	}
	b := Body{Data: u.held, Encoding: u.encoding, Size: u.n}
	if u.pipe == nil {
		return b, nil
	}
	b.Object = u.name
	_ = u.pipe.Close() // it has no error
	<-u.done
	return b, u.err
}

// abort has nothing stored.
func (u *largeBodyWriter) abort(err error) {
	if u.pipe != nil {
		_ = u.pipe.CloseWithError(err)
		<-u.done
	}
}

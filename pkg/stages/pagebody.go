package stages

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/coding"
	"seine/pkg/messages"
)

// PageBody is the body of a page, in its message or in the object store. It can
// be opened more than once, and is never held whole for that.
type PageBody struct {
	bus    *Bus
	page   *messages.Page
	inline io.ReaderAt
	size   int64 // of inline
}

// NewPageBody returns the body of a page. Inline is what its message has of it.
func NewPageBody(b *Bus, page *messages.Page, inline []byte) *PageBody {
	return &PageBody{bus: b, page: page, inline: bytesAt(inline), size: int64(len(inline))}
}

// bytesAt reads from memory.
type bytesAt []byte

func (b bytesAt) ReadAt(p []byte, off int64) (int, error) {
	n := copy(p, b[min(off, int64(len(b))):])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// bodyTime bounds the reading of a body from the object store: one that is
// deleted meanwhile would be waited for. It is generous, for 300 MB over a slow
// network.
const bodyTime = 10 * time.Minute

// Stored opens the body encoded as the page's BodyEncoding says. It waits for
// servers that are not there: the bodies may be on others than the page, which must
// not be given up for that. The error is poison if the body is nowhere any more.
func (b *PageBody) Stored(ctx context.Context) (io.ReadCloser, error) {
	name := b.page.BodyObject
	if name == "" {
		return io.NopCloser(io.NewSectionReader(b.inline, 0, b.size)), nil
	}
	for wait := minRefusedWait; ; wait = min(2*wait, maxRefusedWait) {
		r, err := b.open(ctx, name)
		if !Unavailable(err) || ctx.Err() != nil {
			return r, err
		}
		if wait == maxRefusedWait {
			b.bus.Log.Warn("waiting for a large body, whose server does not answer", "object", name, "error", err)
		}
		if err := Sleep(ctx, wait); err != nil {
			return nil, fmt.Errorf("read body %s: %w", name, err)
		}
	}
}

func (b *PageBody) open(ctx context.Context, name string) (io.ReadCloser, error) {
	store, err := b.bus.JS.ObjectStore(ctx, messages.BucketBodies)
	if err != nil {
		return nil, fmt.Errorf("open object store %s: %w", messages.BucketBodies, err)
	}
	ctx, cancel := context.WithTimeout(ctx, bodyTime)
	r, err := b.bus.getObject(ctx, store, messages.BucketBodies, name)
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		cancel()
		return nil, PoisonError(fmt.Errorf("body %s is no longer in the object store", name))
	}
	if err != nil {
		cancel()
		return nil, fmt.Errorf("read body %s: %w", name, err)
	}
	return &storedBody{ReadCloser: r, name: name, cancel: cancel}, nil
}

// getObject gets an object that was there. A replica that is cut off from the others
// does not know it until that is over, so the stream's leader decides whether it is
// gone.
func (b *Bus) getObject(ctx context.Context, store jetstream.ObjectStore, bucket, name string) (jetstream.ObjectResult, error) {
	for began := time.Now(); ; {
		r, err := openObject(ctx, store, name)
		if !errors.Is(err, jetstream.ErrObjectNotFound) {
			return r, err
		}
		if _, err := b.objectInfo(ctx, bucket, name); err != nil {
			return nil, err
		}
		if time.Since(began) > electionTime {
			return nil, fmt.Errorf("open object %s: no replica has it: %w", name, context.DeadlineExceeded)
		}
		if err := Sleep(ctx, 10*minRefusedWait); err != nil {
			return nil, err
		}
	}
}

// openObject gets an object, and bounds what is asked for that; reading it may take
// as long as ctx says.
func openObject(ctx context.Context, store jetstream.ObjectStore, name string) (jetstream.ObjectResult, error) {
	ctx, cancel := context.WithCancel(ctx)
	late := time.AfterFunc(2*answerTime, cancel)
	r, err := store.Get(ctx, name)
	if err == nil && late.Stop() {
		return r, nil
	}
	cancel()
	if err == nil || errors.Is(err, context.Canceled) {
		return nil, fmt.Errorf("open object %s: %w", name, context.DeadlineExceeded)
	}
	return nil, err
}

// storedBody is a body as it comes from the object store.
type storedBody struct {
	io.ReadCloser
	name   string
	cancel context.CancelFunc
}

func (s *storedBody) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf("read body %s: %w", s.name, err)
	}
	return n, err
}

func (s *storedBody) Close() error {
	defer s.cancel()
	return s.ReadCloser.Close()
}

// Decoded opens the body as the site meant it. Reading it returns an error that
// is poison if it is not what its encoding says.
func (b *PageBody) Decoded(ctx context.Context) (io.ReadCloser, error) {
	names, err := coding.Parse([]string{b.page.BodyEncoding})
	if err != nil {
		return nil, PoisonError(err)
	}
	src, err := b.Stored(ctx)
	if err != nil || len(names) == 0 {
		return src, err
	}
	z := coding.NewReader(src, names, 0)
	d := &decodedBody{r: z, z: z, src: src}
	if b.page.BodyEncoding != messages.BodyZstd { // it came so, and a site may send more than the fetcher took
		d.r = io.LimitReader(z, b.page.BodySize)
	}
	return d, nil
}

// decodedBody is a body as it is decoded.
type decodedBody struct {
	r   io.Reader
	z   *coding.Reader
	src io.Closer
}

func (d *decodedBody) Read(p []byte) (int, error) {
	n, err := d.r.Read(p)
	if _, invalid := errors.AsType[*coding.InvalidError](err); invalid {
		err = PoisonError(fmt.Errorf("decompress body: %w", err))
	}
	return n, err
}

func (d *decodedBody) Close() error { return errors.Join(d.z.Close(), d.src.Close()) }

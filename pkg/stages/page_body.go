package stages

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/base/contentcoding"
	"seine/internal/base/sleep"
	"seine/internal/streams/jsclient"
	"seine/pkg/messages"
)

// PageBody is the body of a page, in its message or in the object store. It can be opened more than
// once, and is never held in memory as a whole.
type PageBody struct {
	bus    *Bus
	page   *messages.Page
	inline []byte
}

// NewPageBody returns the body of a page. inline is the body in its message, if any.
func NewPageBody(b *Bus, page *messages.Page, inline []byte) *PageBody {
	return &PageBody{bus: b, page: page, inline: inline}
}

// Stored opens the body in the page's BodyEncoding. It waits for servers that are unavailable:
// bodies may be on other servers than the page, which must not be abandoned because of them. The
// error is poison if the body no longer exists.
func (b *PageBody) Stored(ctx context.Context) (io.ReadCloser, error) {
	name := b.page.BodyObject
	if name == "" {
		return io.NopCloser(bytes.NewReader(b.inline)), nil
	}
	for wait := jsclient.MinRefusedWait; ; wait = min(2*wait, jsclient.MaxRefusedWait) {
		r, err := b.open(ctx, name)
		if !jsclient.Unavailable(err) || ctx.Err() != nil {
			return r, err
		}
		if wait == jsclient.MaxRefusedWait {
			b.bus.Log.Warn("waiting for a large body: its server does not respond", "object", name, "error", err)
		}
		if err := sleep.For(ctx, wait); err != nil {
			return nil, fmt.Errorf("read body %s: %w", name, err)
		}
	}
}

func (b *PageBody) open(ctx context.Context, name string) (io.ReadCloser, error) {
	box, err := b.bus.ObjectBox(ctx, messages.BucketBodies)
	if err != nil {
		return nil, err
	}
	r, err := box.Open(ctx, name)
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		return nil, PoisonError(fmt.Errorf("body %s is no longer in the object store", name))
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Decoded opens the body without its encoding. Reading it returns a poison error if the data does
// not match the encoding.
func (b *PageBody) Decoded(ctx context.Context) (io.ReadCloser, error) {
	names, err := contentcoding.Parse([]string{b.page.BodyEncoding})
	if err != nil {
		return nil, PoisonError(err)
	}
	src, err := b.Stored(ctx)
	if err != nil || len(names) == 0 {
		return src, err
	}
	z := contentcoding.NewReader(src, names, 0)
	d := &decodedBody{r: z, z: z, src: src}
	if b.page.BodyEncoding != messages.BodyZstd { // encoded by the site, which may send more than the fetcher accepted
		d.r = io.LimitReader(z, b.page.BodySize)
	}
	return d, nil
}

// decodedBody is a reader of the decoded body.
type decodedBody struct {
	r   io.Reader
	z   *contentcoding.Reader
	src io.Closer
}

func (d *decodedBody) Read(p []byte) (int, error) {
	n, err := d.r.Read(p)
	if _, invalid := errors.AsType[*contentcoding.InvalidError](err); invalid {
		err = PoisonError(fmt.Errorf("decompress body: %w", err))
	}
	return n, err
}

func (d *decodedBody) Close() error { return errors.Join(d.z.Close(), d.src.Close()) }

package fetcher

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"

	"seine/internal/base/sleep"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/fetcher/httpclient"
)

// bodyPacker makes bodies fit into messages: it compresses them, and stores bodies that are still
// too large in the object store (stages.LargeBodies). Bodies that httpclient does not hold arrive
// compressed by its large_body_writer.go.
type bodyPacker struct {
	zstd    *zstd.Encoder       // only EncodeAll, which is safe for concurrent use
	cores   chan struct{}       // limits concurrent compressions, since each needs memory for its output
	objects *stages.LargeBodies // for bodies too large for a message
	log     *slog.Logger
}

func newBodyPacker(log *slog.Logger) (*bodyPacker, error) {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		return nil, fmt.Errorf("create the compressor: %w", err)
	}
	return &bodyPacker{zstd: z, cores: make(chan struct{}, runtime.GOMAXPROCS(0)), log: log}, nil
}

const (
	// compressFrom is the size from which a body is compressed: below it, CPU time is worth more
	// than the bytes.
	compressFrom = 256 << 10
	// maxPooled is the largest compressed body that is copied out of its buffer.
	maxPooled = 1 << 20
)

// scratch holds compressed bodies until they are copied into memory of their exact size.
var scratch = sync.Pool{New: func() any { return new([]byte) }}

// compress returns the body for a message, and its encoding.
func (b *bodyPacker) compress(body []byte) ([]byte, string) {
	if len(body) <= compressFrom {
		return body, ""
	}
	b.cores <- struct{}{}
	defer func() { <-b.cores }()
	pooled := scratch.Get().(*[]byte)
	small := b.zstd.EncodeAll(body, (*pooled)[:0])
	switch {
	case len(small) >= len(body):
		*pooled = small
		scratch.Put(pooled)
		return body, ""
	case len(small) > maxPooled:
		return small, messages.BodyZstd
	}
	exact := bytes.Clone(small)
	*pooled = small
	scratch.Put(pooled)
	return exact, messages.BodyZstd
}

// objectName returns the object name for the response body of a request. A repeated request has
// another name: JetStream may drop its page as a duplicate, and the stored page must keep its own
// body.
func objectName(partition int, visitID string) string {
	return strconv.Itoa(partition) + "/" + visitID + "/" + rand.Text()
}

// Waits between attempts to store a body. If the store is full, the worker waits until a parser has
// caught up, as for a full stream.
const (
	minStoreWait = 50 * time.Millisecond
	maxStoreWait = 2 * time.Second
)

// Put stores a body that is not held in memory: see httpclient.LargeBodies.
func (b *bodyPacker) Put(ctx context.Context, name string, body io.Reader) error {
	return b.objects.Put(ctx, name, body)
}

// payload returns the payload of a page's message, at most inline bytes: the heads of an archived
// page, followed by the body. If they are too large together, it stores the body as object, which
// it sets in the page. It returns an error only if ctx is done.
func (b *bodyPacker) payload(ctx context.Context, inline int, p *messages.Page, object string, heads, body []byte) ([]byte, error) {
	switch {
	case len(heads)+len(body) > inline:
		p.BodyObject = object
		return heads, b.store(ctx, object, body)
	case len(heads) == 0:
		return body, nil
	}
	return append(heads, body...), nil
}

// store puts body into the object store. It returns an error only if ctx is done.
func (b *bodyPacker) store(ctx context.Context, name string, body []byte) error {
	for wait := minStoreWait; ; wait = min(2*wait, maxStoreWait) {
		err := b.objects.Put(ctx, name, bytes.NewReader(body))
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("store body %s: %w", name, ctx.Err())
		}
		if wait >= maxStoreWait {
			b.log.Warn("body waits for space in the object store", "object", name, "bytes", len(body), "error", err)
		}
		if err := httpclient.Timed(waitObjectFull, func() error { return sleep.For(ctx, wait) }); err != nil {
			return err
		}
	}
}

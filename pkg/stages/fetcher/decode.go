package fetcher

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"seine/pkg/messages"
)

// acceptEncoding lists what decode can undo.
const acceptEncoding = "gzip, deflate, br, zstd"

// Limits of decoding.
const (
	// maxCodings bounds how many encodings may lie over one another; nobody
	// means more than two.
	maxCodings = 4
	// ratioFree is what may come out before the ratio is looked at: a short page
	// of blanks is no bomb.
	ratioFree = 1 << 20
	// zstdWindow is the largest window of zstd as a content coding, RFC 9659.
	zstdWindow = 8 << 20
)

// codings returns the names in Content-Encoding in the order they were applied.
func codings(values []string) ([]string, *failure) {
	var names []string
	for _, v := range values {
		for name := range strings.SplitSeq(v, ",") {
			name = strings.ToLower(strings.TrimSpace(name))
			if name == "" || name == "identity" {
				continue
			}
			if name = strings.TrimPrefix(name, "x-"); pools[name] == nil {
				return nil, fail(messages.BadEncoding, "Content-Encoding %q is not one of %s", messages.Clip(name), acceptEncoding)
			}
			names = append(names, name)
		}
	}
	if len(names) > maxCodings {
		return nil, fail(messages.BadEncoding, "%d content encodings over one another, at most %d are undone", len(names), maxCodings)
	}
	return names, nil
}

// decoder undoes one encoding. Reset may read.
type decoder interface {
	io.Reader
	Reset(io.Reader) error
}

// pools of decoders by coding: each holds tens of KiB of tables and windows.
var pools = map[string]*sync.Pool{
	"gzip":    {New: func() any { return new(gzip.Reader) }},
	"deflate": {New: func() any { return &deflate{} }},
	"br":      {New: func() any { return brotli.NewReader(nil) }},
	"zstd":    {New: newZstd},
}

func newZstd() any {
	// One goroutine at most, which is the caller's, so nothing has to be closed.
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(zstdWindow))
	if err != nil {
		panic(err) // only for an option out of range
	}
	return z
}

// deflate reads both that pass under this name: the zlib format, which
// RFC 9110 8.4.1.2 means, and the bare stream that some servers send.
type deflate struct {
	zlib, raw, now io.Reader
}

func (d *deflate) Read(p []byte) (int, error) { return d.now.Read(p) }

// Reset wants a *bufio.Reader, to look ahead.
func (d *deflate) Reset(r io.Reader) (err error) {
	src := r.(*bufio.Reader)
	head, err := src.Peek(2)
	if err != nil && len(head) == 0 {
		return err
	}
	if !isZlib(head) {
		if d.raw == nil {
			d.raw = flate.NewReader(src)
		} else {
			err = d.raw.(flate.Resetter).Reset(src, nil)
		}
		d.now = d.raw
		return err
	}
	if d.zlib == nil {
		d.zlib, err = zlib.NewReader(src)
		d.now = d.zlib
		return err
	}
	d.now = d.zlib
	return d.zlib.(zlib.Resetter).Reset(src, nil)
}

// isZlib checks the header of RFC 1950 2.2.
func isZlib(head []byte) bool {
	return len(head) == 2 && head[0]&0x0f == 8 && head[0]>>4 <= 7 && (uint(head[0])<<8|uint(head[1]))%31 == 0
}

var sources = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, 16<<10) }}

// layer is one encoding being undone. It begins with its first byte, so that a
// body of no bytes is empty in every encoding.
type layer struct {
	name  string
	src   *bufio.Reader
	dec   decoder
	wire  *int64 // bytes that came over the wire
	ratio int64
	out   int64
	begun bool
}

// decode lays decoders over r, outermost encoding first. Call done after.
func decode(r io.Reader, names []string, wire *int64, ratio int64) (io.Reader, []*layer) {
	layers := make([]*layer, 0, len(names))
	for i := len(names) - 1; i >= 0; i-- {
		src := sources.Get().(*bufio.Reader)
		src.Reset(r)
		l := &layer{name: names[i], src: src, dec: pools[names[i]].Get().(decoder), wire: wire, ratio: ratio}
		layers = append(layers, l)
		r = l
	}
	return r, layers
}

// done gives back what decode took.
func done(layers []*layer) {
	for _, l := range layers {
		l.src.Reset(empty)
		sources.Put(l.src)
		pools[l.name].Put(l.dec)
	}
}

var empty = bytes.NewReader(nil)

func (l *layer) Read(p []byte) (int, error) {
	if !l.begun {
		if _, err := l.src.Peek(1); err != nil {
			return 0, err
		}
		if err := l.dec.Reset(l.src); err != nil {
			return 0, l.broken(err)
		}
		l.begun = true
	}
	n, err := l.dec.Read(p)
	l.out += int64(n)
	if l.out > ratioFree && l.out > l.ratio*max(1, *l.wire) {
		return n, fail(messages.TooLarge, "the body decompresses to more than %d times its size", l.ratio)
	}
	if err == nil || err == io.EOF {
		return n, err
	}
	return n, l.broken(err)
}

// broken turns a decoder's error into a failure, unless it only passes on one
// from below. Bytes behind a complete gzip member are ignored, as browsers do.
func (l *layer) broken(err error) error {
	if _, ok := errors.AsType[*failure](err); ok {
		return err
	}
	if l.out > 0 && errors.Is(err, gzip.ErrHeader) {
		return io.EOF
	}
	return fail(messages.BadEncoding, "the body is not valid %s: %v", l.name, err)
}

var (
	_ decoder = (*gzip.Reader)(nil)
	_ decoder = (*deflate)(nil)
	_ decoder = (*brotli.Reader)(nil)
	_ decoder = (*zstd.Decoder)(nil)
)

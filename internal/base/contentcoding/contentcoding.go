// Package contentcoding decodes the content codings of HTTP (RFC 9110 8.4.1): gzip, deflate, br and
// zstd, including combinations. It is safe against decompression bombs: the caller bounds the ratio
// between the decoded and the received size. Decoders are pooled, because each holds tens of KiB.
package contentcoding

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"
	brotli "github.com/molecule-man/go-brrr"
)

// Accept lists the supported codings in the form of Accept-Encoding.
const Accept = "gzip, deflate, br, zstd"

const (
	// maxCodings bounds the number of codings on one body; real servers use at most two.
	maxCodings = 4
	// ratioFree is the decoded size up to which the ratio is not checked, in bytes: a short page of
	// blanks is not a bomb.
	ratioFree = 1 << 20
	// zstdWindow is the largest window of zstd as a content coding (RFC 9659).
	zstdWindow = 8 << 20
)

// RatioError is returned if a body decodes to more than Ratio times its size.
type RatioError struct{ Ratio int64 }

// Error implements error.
func (e *RatioError) Error() string {
	return fmt.Sprintf("the body decompresses to more than %d times its size", e.Ratio)
}

// unsupported lists codings that exist but cannot be decoded: those of the registry of RFC 9110
// 16.6.1, and others that servers have used.
var unsupported = []string{
	"compress", "exi", "pack200-gzip", "aes128gcm", "dcb", "dcz", "sdch",
	"bzip2", "bzip", "bz2", "xz", "lzma", "lzip", "lzop", "lz4", "snappy",
}

// Parse returns the codings in the values of Content-Encoding, in the order in which they were
// applied. It ignores unknown names, as browsers do, because servers send values such as "UTF-8" or
// "none". The error names a coding that cannot be decoded.
func Parse(values []string) ([]string, error) {
	var names []string
	for _, v := range values {
		for name := range strings.SplitSeq(v, ",") {
			name = strings.TrimPrefix(strings.ToLower(strings.TrimSpace(name)), "x-")
			switch {
			case pools[name] != nil:
				names = append(names, name)
			case slices.Contains(unsupported, name):
				return nil, fmt.Errorf("Content-Encoding %q is not one of %s", name, Accept)
			}
		}
	}
	if len(names) > maxCodings {
		return nil, fmt.Errorf("%d content encodings over one another, at most %d are undone", len(names), maxCodings)
	}
	return names, nil
}

// decoder decodes one coding. Reset may read.
type decoder interface {
	io.Reader
	Reset(io.Reader) error
}

// pools has a pool of decoders for each coding.
var pools = map[string]*sync.Pool{
	"gzip":    {New: func() any { return &members{} }},
	"deflate": {New: func() any { return &deflate{} }},
	"br":      {New: func() any { return brotliDecoder{brotli.NewReader(nil)} }},
	"zstd":    {New: newZstd},
}

func newZstd() any {
	// With a concurrency of 1 it decodes in the caller's goroutine, so it need not be closed.
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(zstdWindow))
	if err != nil {
		panic(err) // only for an invalid option
	}
	return z
}

var sources = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, 16<<10) }}

// Reader decodes a body.
type Reader struct {
	io.Reader // the innermost layer
	wire      source
	layers    []*layer
}

// source counts the received bytes and keeps the read error, which is more precise than the
// resulting errors of the decoders.
type source struct {
	io.Reader
	n   int64
	err error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	s.n += int64(n)
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}

// NewReader returns a reader that decodes r, to which the codings names were applied in that order.
// A positive ratio bounds the decoded size relative to the size of r, beyond the first MiB. Close
// must be called.
func NewReader(r io.Reader, names []string, ratio int64) *Reader {
	z := &Reader{wire: source{Reader: r}, layers: make([]*layer, 0, len(names))}
	z.Reader = &z.wire
	for i := len(names) - 1; i >= 0; i-- {
		src := sources.Get().(*bufio.Reader)
		src.Reset(z.Reader)
		l := &layer{name: names[i], src: src, dec: pools[names[i]].Get().(decoder), wire: &z.wire, ratio: ratio}
		z.layers = append(z.layers, l)
		z.Reader = l
	}
	return z
}

// Close returns the decoders to their pools. It does not close the source.
func (r *Reader) Close() error {
	for _, l := range r.layers {
		l.src.Reset(strings.NewReader(""))
		sources.Put(l.src)
		pools[l.name].Put(l.dec)
	}
	r.layers = nil
	return nil
}

// layer decodes one coding. It starts with the first byte, so that an empty body is valid in every
// coding.
type layer struct {
	name  string
	src   *bufio.Reader
	dec   decoder
	wire  *source
	ratio int64
	out   int64
	begun bool
}

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
	if l.ratio > 0 && l.out > ratioFree && l.out > l.ratio*max(1, l.wire.n) {
		return n, &RatioError{l.ratio}
	}
	if err == nil || err == io.EOF {
		return n, err
	}
	return n, l.broken(err)
}

// InvalidError is returned if a body is invalid in its coding.
type InvalidError struct {
	Coding string
	Err    error
}

// Error names the coding.
func (e *InvalidError) Error() string {
	return fmt.Sprintf("the body is not valid %s: %v", e.Coding, e.Err)
}

// Unwrap returns the error of the decoder.
func (e *InvalidError) Unwrap() error { return e.Err }

// broken attributes an error of the decoder: to the source, to a lower layer, or to this layer.
func (l *layer) broken(err error) error {
	if l.wire.err != nil {
		return l.wire.err
	}
	if _, ok := errors.AsType[*RatioError](err); ok {
		return err
	}
	if _, ok := errors.AsType[*InvalidError](err); ok {
		return err
	}
	return &InvalidError{l.name, err}
}

var (
	_ decoder = (*deflate)(nil)
	_ decoder = brotliDecoder{}
	_ decoder = (*zstd.Decoder)(nil)
)
